import type { TargetProblem } from '../plan/plan-update.ts';
import { isKubeError } from '../kube/kube-error.ts';
import type { TargetKind } from '../kube/targets.ts';

/**
 * What is known of a kind in a namespace: `starting`: its workloads have not been listed yet, so nothing may be said of them · `ready` since that time ·
 * or why it cannot be watched.
 */
export type KindState = 'starting' | { readonly since: number } | { readonly problem: TargetProblem };

/** What a failure of a list or a watch means for the policies that name the kind; undefined where it passes by itself. */
export function problemOf(error: unknown, { apiVersion, resource }: TargetKind): TargetProblem | undefined {
  if (!isKubeError(error, 403)) return undefined;
  const group = apiVersion.includes('/') ? ` in API group "${apiVersion.split('/')[0]}"` : '';
  const message = `not permitted: grant image-watcher the verbs "list" and "watch" on "${resource}"${group}: ${error.detail}`;
  return { reason: 'TargetKindForbidden', message };
}
