export { UnacceptableEvent, WebhookVerificationError } from './errors.js';
export { webhookHandler } from './handler.js';
export { MemoryStore } from './memory-store.js';
export { webhookPlugin } from './plugin.js';
export { createReceiver } from './receive.js';
export { verify } from './verify.js';
