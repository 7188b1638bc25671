/** Writes what a user asks of a policy, with the rights of the caller. */
import { z } from 'zod';
import type { ActionActivity } from '../../core/model/activity.ts';
import { defined } from '../../core/model/defined.ts';
import { approvalAnnotation, formatApproval, lastEditedByAnnotation, type NamedApproval } from '../../core/model/named-approvals.ts';
import { formatHold, holdAnnotation, type NamedHold } from '../../core/model/named-hold.ts';
import { type ActionName, maxReason, requestAnnotations } from '../../core/model/policy-actions.ts';
import { type Access, AccessError } from './access.ts';
import type { ApiPorts, PatchedObject } from './ports.ts';
import { policiesOf, whyNoActions } from './see-policies.ts';

/** The answer to an action. */
export const requested = z
  .object({ requested: z.string().describe('The value that was written: the status repeats it when it was handled.') })
  .meta({ id: 'Requested' });

/** The sentence about rights that the description of every action has. */
export const rights =
  'The change is made with the token of the caller, so it needs the same rights as `kubectl annotate`: to patch the policy, and the verb of the action where the admission policy of the chart is installed.';

/** The part of the body of every action that says why it is requested. */
export const why = z.object({
  reason: z.string().trim().max(maxReason).exactOptional().describe('Why; kept with the action, and shown where it is.'),
});

/** The change of an action: its annotation with a value, or a part of the spec or the metadata. */
export type Change = { readonly value: string } & (
  | { readonly annotation: true }
  /** One of the approvals of several people. */
  | { readonly approval: Omit<NamedApproval, 'user' | 'reason'> }
  /** The hold that the action writes. */
  | { readonly hold: Required<Pick<NamedHold, 'at'>> }
  /** `namesAuthor`: the policy asks who changes its spec. */
  | { readonly spec: object; readonly namesAuthor?: boolean }
  | { readonly metadata: object }
);

/** An action that a user requested. */
export interface Requested {
  readonly name: AnyAction;
  readonly change: Change;
  readonly reason?: string | undefined;
}
/** The actions of the API. Some are annotations, which are named like them. */
export type AnyAction = ActionName | 'hold' | 'suspend' | 'resume';

/** Throws AccessError(403) if no action is possible, whatever the permissions of the caller are. */
export function requireActions(ports: ApiPorts, access: Access): void {
  policiesOf(ports);
  const noActions = whyNoActions(ports, access);
  if (noActions !== undefined) throw new AccessError(403, noActions);
}

/** Writes the change, and with an annotation also the user's name and the reason. */
export async function requestAction(
  object: PatchedObject,
  { name, change, reason }: Requested,
  { ports, access }: { readonly ports: ApiPorts; readonly access: Access },
): Promise<z.input<typeof requested>> {
  await policiesOf(ports).patch(access.credentials, object, toPatch(name, change, { user: access.user, reason }));
  const { namespace, name: policy, of } = object;
  ports.logger.info({ policy: `${namespace}/${policy}`, action: name, user: access.user }, 'action requested');
  // Annotations say themselves what was requested, by whom and why.
  if (!('annotation' in change) && !('approval' in change) && !('hold' in change)) {
    const subject = { kind: of === undefined ? ('ImagePolicy' as const) : ('BaseImagePolicy' as const), namespace, name: policy };
    noteAction(ports, { action: name, subject, user: access.user, ...defined({ why: reason || undefined }) });
  }
  return { requested: change.value };
}

/** Notes an action of which the object does not say who requested it, and why. */
export function noteAction(ports: ApiPorts, action: Omit<ActionActivity, 'type' | 'at'>): void {
  ports.noteActivity([{ id: ports.unique(), activity: { type: 'action', at: ports.now().toISOString(), ...action } }]);
}

function toPatch(name: AnyAction, change: Change, by: { readonly user: string; readonly reason: string | undefined }): object {
  if ('spec' in change)
    return { ...(change.namesAuthor === true && { metadata: { annotations: { [lastEditedByAnnotation]: by.user } } }), spec: change.spec };
  if ('approval' in change) {
    const approval = { ...change.approval, user: by.user, ...defined({ reason: by.reason }) };
    return { metadata: { annotations: { [approvalAnnotation(by.user)]: formatApproval(approval) } } };
  }
  if ('hold' in change) {
    const hold = { ...change.hold, user: by.user, ...defined({ reason: by.reason }) };
    return { metadata: { annotations: { [holdAnnotation]: formatHold(hold) } } };
  }
  if ('metadata' in change) return { metadata: change.metadata };
  // What writes an annotation is one of the actions whose names it may have.
  return { metadata: { annotations: requestAnnotations(name as ActionName, change.value, by) } };
}
