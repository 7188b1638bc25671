/** The command `release`: it ends what holds a policy, and says what that was. */
import { defined } from '../core/model/defined.ts';
import { maxClockDifferenceMs } from '../core/model/named-approvals.ts';
import { describeHold, holdAnnotation, type NamedHold } from '../core/model/named-hold.ts';
import { actionAnnotations, readActions } from '../core/model/policy-actions.ts';
import type { PolicyStatus } from '../core/model/policy-status.ts';
import { holdOn } from '../core/model/promotion.ts';
import { isReason, reasons } from '../core/model/reasons.ts';
import { holdOf } from '../core/model/release-holds.ts';
import { fieldsOf } from '../core/model/untyped.ts';
import { defineCommand } from '../service/command-line/command.ts';
import { anyPolicyArgument, withAnyPolicy, type PolicyClient } from '../service/command-line/policy-client.ts';
import { printable } from '../service/command-line/printable.ts';
import { policyStatusOf, whySuspended } from './describe-status.ts';
import { actOptions, printDone, reasonOption } from './print-done.ts';
import { summaries } from './summaries.ts';

export const release = defineCommand({
  name: 'release',
  summary: summaries.release,
  about: `Writes the annotation ${actionAnnotations.release} with the current time: every hold that began before then is released, and the selected image is applied unless something else is in its way.`,
  arguments: [anyPolicyArgument],
  options: { ...actOptions, ...reasonOption },
  examples: [['release web', 'apply what the policy selects, although it is held']],
  run({ output, reason, ...values }, [text], terminal) {
    return withAnyPolicy(text, values, terminal, async ({ namespace, name, resourceName, isBase, read, request }) => {
      const raw = await read();
      const status = policyStatusOf(raw);
      const now = new Date();
      const held = holdOf(status);
      const hold = isBase ? undefined : holdOn({}, readActions(fieldsOf(fieldsOf(fieldsOf(raw)['metadata'])['annotations'])), now);
      const time = latestTime(status, hold, now);
      await request('release', time, reason);
      const sentence = describe({ namespace, name, isBase }, status, { hold, time, suspension: whySuspended(raw) });
      printDone(terminal, output, printable(sentence), {
        namespace,
        name,
        resourceName,
        release: time,
        ...defined({ held, hold }),
      });
      return 0;
    });
  },
});

/** What a release at `time` ends, and what it does not. */
function describe(
  { namespace, name, isBase }: Pick<PolicyClient, 'namespace' | 'name' | 'isBase'>,
  status: PolicyStatus,
  { hold, time, suspension }: { readonly hold: NamedHold | undefined; readonly time: string; readonly suspension: string | undefined },
): string {
  const policy = `${namespace}/${name}`;
  // The conditions of a suspended policy do not say what holds it.
  if (suspension !== undefined && hold === undefined) return `what has held ${policy} until now is released when it goes on: ${suspension}`;
  const held = holdOf(status);
  const isKept = hold !== undefined && !(Date.parse(hold.at ?? '') <= Date.parse(time));
  const ended = [
    ...(held === undefined || (hold !== undefined && held.reason === 'OnHold')
      ? []
      : [`held since ${held.since} (${held.reason}${isReason(held.reason) ? `: ${reasons[held.reason]}` : ''})`]),
    ...(hold === undefined || isKept ? [] : [`on hold (${describeHold(hold)})`]),
  ];
  const what = ended.length > 0 ? `released ${policy}, which was ${ended.join(' and ')}` : `nothing was held: ${policy} is as it was`;
  if (isKept)
    return `${what}; it stays on hold (${describeHold(hold)}): remove the annotation ${holdAnnotation}, which does not begin with a time that is over`;
  if (ended.length === 0) return what;
  return `${what}; ${status.latest?.tag ?? 'what it selects'} is applied unless something else is in its way: see "image-watcher explain ${isBase ? `bipol/${name} -n ${namespace}` : policy}"`;
}

/** The time of a release. It is never before the holds to be released, even if the clock of this machine is behind. */
function latestTime({ conditions = [], rejected = [], reverted = [] }: PolicyStatus, hold: NamedHold | undefined, now: Date): string {
  const held = [...conditions.map(({ lastTransitionTime }) => lastTransitionTime), ...[...rejected, ...reverted].map(({ at }) => at)];
  // A hold may say any time: one that is far in the future is no difference of clocks.
  const since = Date.parse(hold?.at ?? '');
  const times = [...held.map((time) => Date.parse(time)), ...(since - now.getTime() < maxClockDifferenceMs ? [since] : [])];
  return new Date(Math.max(now.getTime(), ...times.filter((time) => !Number.isNaN(time)))).toISOString();
}
