/**
 * A wing of the product: what it adds to the service, to the API group and to the commands. The service declares here what it asks of wings; `src/wings.ts` lists them.
 * Whoever deletes the folder of a wing and its line in that list has a smaller product that works.
 */
import type { CommandEntry } from '../command-line/command.ts';
import type { WingKinds } from '../resources/kinds.ts';

export interface Wing {
  /** The name of its folder. */
  readonly id: string;
  /** Its commands, in the order of the overview. Each is loaded when it is used. */
  readonly commands?: readonly CommandEntry[];
  /** What it adds to the API group; loaded where manifests or definitions are read. */
  readonly kinds?: () => Promise<WingKinds>;
}
