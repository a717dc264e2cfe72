export class WebhookVerificationError extends Error {
  /**
   * @param {import('./index.js').VerificationCode} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.code = code;
  }
}

export class UnacceptableEvent extends Error {}
UnacceptableEvent.prototype.name = 'UnacceptableEvent';

/** The body is larger than a receiver takes. */
export class BodyTooLarge extends Error {}
