/** What the doctor and the list of causes say of targets: messages that do not arrive. */
import type { Access, Question } from '../service/api/access.ts';
import type { FindCauses } from '../service/api/ports.ts';
import type { Cause } from '../service/causes/cause.ts';
import { listTargets, type KnownTargets } from './list-targets.ts';
import { notificationTarget } from './resource/kind.ts';
import type { TargetFacts } from '../service/doctor/checks/notifications.ts';
import type { NotificationTarget } from '../core/model/notification-target.ts';

/** What is asked about callers. */
export const targetSight: readonly Question[] = [{ verb: 'list', resource: notificationTarget.plural }];

/** Creates the finder of the causes, of the targets that the caller may see. Those of the configuration concern all namespaces. */
export function createTargetCauses(known: KnownTargets): FindCauses {
  return async (access, wanted) => {
    const found = [...known.namespaced()]
      .filter(({ namespace }) => wanted === undefined || namespace === wanted)
      .flatMap((one) => causeOf(one) ?? []);
    const causes: Cause[] = wanted === undefined ? await causesOfConfigured(known, access) : [];
    for (const { namespace, ...cause } of found)
      if (await access.may({ verb: 'list', resource: notificationTarget.plural, namespace })) causes.push(cause);
    return causes;
  };
}

async function causesOfConfigured(known: KnownTargets, access: Access): Promise<Cause[]> {
  const listed = await listTargets({ ...known, namespaced: () => [] }, access);
  return listed
    .filter(({ ready }) => !ready)
    .map(({ name, reason, message, lastFailedAt }) => ({
      id: `notification/${reason}/${name}`,
      kind: 'notification',
      urgency: 'Warning',
      subject: name,
      reason,
      message,
      since: lastFailedAt,
      policies: [],
      step: 'seeTarget',
      command: `image-watcher notify test ${name}`,
    }));
}

/** Which targets get no messages: those of the configuration by their last message, and those of namespaces by their status. Rejects if Redis does not answer. */
export async function readTargets({ configured, namespaced, readResults }: KnownTargets): Promise<TargetFacts[]> {
  const results = await readResults(configured.map(({ name }) => name));
  const own = configured.map(({ name }, index): TargetFacts => {
    const { acceptedAt = 0, failedAt = 0, why } = results[index] ?? {};
    return failedAt > acceptedAt ? { name, why: why ?? '', at: failedAt } : { name };
  });
  const others = [...namespaced()].map((target): TargetFacts => {
    const problem = problemOf(target);
    return { name: `${target.namespace}/${target.name}`, why: problem && `${problem.reason}: ${problem.message}` };
  });
  return [...own, ...others];
}

function problemOf({ status }: NotificationTarget) {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status !== 'False' || ready.reason === 'Suspended' ? undefined : ready;
}

function causeOf(target: NotificationTarget): (Cause & { readonly namespace: string }) | undefined {
  const { namespace, name } = target;
  const ready = problemOf(target);
  if (ready === undefined) return undefined;
  const subject = `${namespace}/${name}`;
  return {
    namespace,
    id: `notification/${ready.reason}/${subject}`,
    kind: 'notification',
    urgency: 'Warning',
    subject,
    reason: ready.reason,
    message: ready.message,
    since: ready.lastTransitionTime,
    policies: [],
    step: 'seeTarget',
    command: `kubectl describe notificationtarget -n ${namespace} ${name}`,
  };
}
