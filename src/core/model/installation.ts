import type { Side } from './failure-side.ts';

/** How the controller of a custom resource installs the chart or artifact that the spec names now, as its status says. */
export interface Installation {
  /**
   * `unseen`: the controller reports nothing about this spec yet, or nobody has asked it to install. `underway`: it works on it, and may try again by itself.
   * `failed`: it has given up. `halted`: it does nothing until somebody changes the resource.
   */
  readonly state: 'unseen' | 'underway' | 'installed' | 'failed' | 'halted';
  /** The message of the controller, cut to fit. */
  readonly message: string;
  /** What a failure speaks against; absent for all other states. */
  readonly against?: Side;
  /** When the controller began to work on this spec, if it says so and has not failed at it since. */
  readonly since?: string;
  /** When the failure was found, where the status does not say which generation of the spec it is about. */
  readonly at?: string;
}
