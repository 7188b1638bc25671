/** Links from the output of commands to the documentation. */
import { isReason, pageOf, type Reason } from '../core/model/reasons.ts';

/** Reasons of a policy that is in order. Commands print no links for them. */
const inOrder: ReadonlySet<string> = new Set<Reason>(['UpToDate', 'Updated', 'RolledOut']);

/** Lines with links to the explanations of these reasons, each once. Reasons that are in order, and those of other writers, have no link. */
export function reasonLinks(found: readonly (string | undefined)[]): string[] {
  return [...new Set(found)].flatMap((reason) => (isReason(reason) && !inOrder.has(reason) ? [`see ${pageOf(reason)}`] : []));
}
