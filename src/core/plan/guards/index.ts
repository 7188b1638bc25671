/** The list of guards, in the order in which a change passes them: the first one that stops it gives the reason. All steps to add one: test/structure/worked-examples/guard.ts. */
import { approval } from './approval.ts';
import { checks } from './checks.ts';
import { companions } from './companions.ts';
import { consent } from './consent.ts';
import { crossNamespace } from './cross-namespace.ts';
import { dryRun } from './dry-run.ts';
import type { Guard } from './guard.ts';
import { held } from './held.ts';
import { onHold } from './on-hold.ts';
import { paused } from './paused.ts';
import { proven } from './proven.ts';
import { rejected } from './rejected.ts';
import { repeats } from './repeats.ts';
import { retry } from './retry.ts';
import { reverted } from './reverted.ts';
import { rewritten } from './rewritten.ts';
import { vulnerabilities } from './vulnerabilities.ts';
import { wave } from './wave.ts';
import { unlikelyVersion } from './unlikely-version.ts';
import { window } from './window.ts';

export const guards: readonly Guard[] = [
  crossNamespace,
  consent,
  rewritten,
  companions,
  rejected,
  retry,
  held,
  reverted,
  unlikelyVersion,
  paused,
  dryRun,
  proven,
  vulnerabilities,
  approval,
  onHold,
  repeats,
  window,
  checks,
  wave,
];
