/** What must hold, whatever happens: each invariant has a name, the sentence that the documentation promises, and a check. */
import type { BaseAct } from './base-world.ts';
import { baseInvariants } from './invariants-of-bases.ts';
import { chartInvariants } from './invariants-of-charts.ts';
import { checkInvariants } from './invariants-of-checks.ts';
import { environmentInvariants } from './invariants-of-environments.ts';
import { vulnerabilityInvariants } from './invariants-of-vulnerabilities.ts';
import { setInvariants } from './invariants-of-sets.ts';
import { changeInvariants } from './invariants-of-changes.ts';
import { freshLook } from './fresh-look.ts';
import { endInvariants } from './invariants-at-the-end.ts';
import type { ImagePatch } from './patch-log.ts';
import { becomesQuiet } from './quiet.ts';
import type { World } from './world.ts';

export interface Invariant {
  readonly name: string;
  readonly promise: string;
  /** Checks a change of an image at the moment when the API server makes it; returns what is wrong. */
  readonly onPatch?: (patch: ImagePatch, world: World) => string | undefined;
  /** Checks what is done for a BaseImagePolicy, as `onPatch`. */
  readonly onBaseAct?: (act: BaseAct, world: World) => string | undefined;
  /** Checks what is left when everything is quiet; returns all that is wrong. */
  readonly atEnd?: (world: World) => readonly string[];
}

/** Every invariant, in a list. */
export const invariants: readonly Invariant[] = [
  ...changeInvariants,
  ...chartInvariants,
  ...baseInvariants,
  ...environmentInvariants,
  ...setInvariants,
  ...checkInvariants,
  ...vulnerabilityInvariants,
  ...endInvariants,
  becomesQuiet,
  freshLook,
];

/** Watches a world, and tells its story what is broken. */
export function watchChanges(world: World): void {
  world.patches.onPatch((patch) => {
    for (const { name, onPatch } of invariants) {
      const problem = onPatch?.(patch, world);
      if (problem !== undefined) world.story.violation(name, problem);
    }
  });
  world.bases?.onAct((act) => {
    for (const { name, onBaseAct } of invariants) {
      const problem = onBaseAct?.(act, world);
      if (problem !== undefined) world.story.violation(name, problem);
    }
  });
}

/** Checks the end. */
export function checkEnd(world: World): void {
  for (const { name, atEnd } of invariants) for (const problem of atEnd?.(world) ?? []) world.story.violation(name, problem);
}
