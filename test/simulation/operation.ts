/** Something that happens to the world at a time: a person, the registry or a fault acts. Its parameters are drawn before the run, so that others can be left out. */
import type { Random } from './random.ts';
import type { Setup } from './setup.ts';
import type { World } from './world.ts';

export interface Operation {
  /** Milliseconds after the start. */
  readonly at: number;
  /** For listings; the story tells what really came of it. */
  readonly name: string;
  readonly run: (world: World) => void;
}

/** A kind of operation: draws the parameters, returns what is to be done. */
export interface OperationKind {
  readonly name: string;
  /** How often it is drawn, compared with others of its group. */
  readonly weight: number;
  readonly draw: (random: Random, setup: Setup) => (world: World) => void;
}
