/** What the sealed secret of a second factor is bound to: in the row of somebody else it does not open. */
export function secondFactorContext(userId: number): string {
  return `second-factor:${userId}`;
}
