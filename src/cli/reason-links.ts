/** Links from the output of commands to the pages for users. */
import { isReason, pageOf, type Reason } from '../core/model/reasons.ts';

/** Reasons of a policy that is in order: nobody needs their explanation after a command. */
const inOrder: ReadonlySet<string> = new Set<Reason>(['UpToDate', 'Updated', 'RolledOut']);

/** Lines that say where these reasons are explained, each once. Reasons that are in order, and those of other writers, have none. */
export function reasonLinks(found: readonly (string | undefined)[]): string[] {
  return [...new Set(found)].flatMap((reason) => (isReason(reason) && !inOrder.has(reason) ? [`see ${pageOf(reason)}`] : []));
}
