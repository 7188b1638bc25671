/** The causes that NotificationTargets report: messages that do not arrive. */
import type { FindCauses } from '../service/api/ports.ts';
import type { Cause } from '../service/causes/cause.ts';
import { notificationTarget } from './resource/kind.ts';
import type { NotificationTarget } from '../core/model/notification-target.ts';

/** Creates the finder of the causes, of the namespaces whose targets the caller may list. */
export function createTargetCauses(targets: () => Iterable<NotificationTarget>): FindCauses {
  return async (access, wanted) => {
    const found = [...targets()]
      .filter(({ namespace }) => wanted === undefined || namespace === wanted)
      .flatMap((one) => causeOf(one) ?? []);
    const causes: Cause[] = [];
    for (const { namespace, ...cause } of found)
      if (await access.may({ verb: 'list', resource: notificationTarget.plural, namespace })) causes.push(cause);
    return causes;
  };
}

function causeOf({ namespace, name, status }: NotificationTarget): (Cause & { readonly namespace: string }) | undefined {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'False' || ready.reason === 'Suspended') return undefined;
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
