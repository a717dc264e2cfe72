import type { Payload } from '../payloads.ts';
import type { Suite } from '../suite.ts';
import type { World } from '../world.ts';

/** What every handler works with. */
export interface Replay {
  world: World;
  /** Documents and comments through REST, or through SQL for the events that take that door. */
  suite: Suite;
  payload: Payload;
}

/** Does what the payload says; or says why it cannot be done. */
export type Handler = (replay: Replay) => Promise<string | undefined>;
