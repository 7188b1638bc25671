/** What a state is, and the versions in it. */
import type { Scene, Subject } from './scene.ts';
import type { Installs } from './installers.ts';
import type { Known } from './truth.ts';

/** A state in which a policy can be. */
export interface State {
  readonly name: string;
  /** Which registry; the one that announces its pushes unless it says otherwise. */
  readonly registry?: 'denied' | 'down';
  /** What its artifacts are where they are no images, and what installs them. */
  readonly installs?: Installs;
  /** Brings the policy of the subject there, and says what is so then. */
  readonly make: (scene: Scene, subject: Subject) => Promise<Known>;
}

/** Runs at first. */
export const old = '1.0.0';
/** Is the best that the registry holds. */
export const selected = '1.1.0';
