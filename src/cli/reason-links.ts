/** Links from the output of commands to the documentation. */
import { isReason, pageOf, reasonsInOrder } from '../core/model/reasons.ts';

/** Lines with links to the explanations of these reasons, each once. Reasons that are in order, and those of other writers, have no link. */
export function reasonLinks(found: readonly (string | undefined)[]): string[] {
  return [...new Set(found)].flatMap((reason) => (isReason(reason) && !reasonsInOrder.has(reason) ? [`see ${pageOf(reason)}`] : []));
}
