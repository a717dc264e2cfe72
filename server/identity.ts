/** On whose behalf a statement runs. */
export type Identity = { role: 'anon' } | { role: 'authenticated'; userId: number };

export const ANONYMOUS: Identity = { role: 'anon' };

/** A person who is signed in, as `/api/login` and `/api/me` show them. */
export interface SignedInUser {
  id: number;
  name: string;
  email: string;
  avatarUrl: string | null;
  isAdmin: boolean;
}

/** The sign-in a request carries. */
export interface Session {
  /** SHA-256 of the token, lower-case hex: all the server ever keeps of it. */
  digest: string;
  user: SignedInUser;
  /** ISO 8601. */
  expiresAt: string;
  /** It was last seen a while ago, and that is to be noted. */
  isStale: boolean;
}
