import type { TargetKind } from '../target-kind.ts';
import { deployment } from './deployment.ts';

/** Every kind whose images can be updated. */
export const targets: readonly TargetKind[] = [deployment];
