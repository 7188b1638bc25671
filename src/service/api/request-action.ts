/** Writes what a user asks of a policy, with the rights of the caller. */
import { z } from 'zod';
import { actionAnnotations, formatRequest, type ActionName, requestedByAnnotation } from '../../core/model/policy-actions.ts';
import { type Access, AccessError } from './access.ts';
import type { ApiPorts, PatchedObject } from './ports.ts';
import { policiesOf, whyNoActions } from './see-policies.ts';

/** The answer to an action. */
export const requested = z.object({
  requested: z.string().describe('The value that was written: the status repeats it when it was handled.'),
});

/** Of the description of every action. */
export const rights =
  'The change is made with the token of the caller, so it needs the same rights as `kubectl annotate`: to patch the policy, and the verb of the action where the admission policy of the chart is installed.';

/** The change of an action: an annotation with its value, or a part of the spec or the metadata. */
export type Change = { readonly value: string } & (
  | { readonly annotation: keyof typeof actionAnnotations }
  | { readonly spec: object }
  | { readonly metadata: object }
);

/** Throws AccessError(403) if no action is possible, whatever the permissions of the caller are. */
export function requireActions(ports: ApiPorts, access: Access): void {
  policiesOf(ports);
  const noActions = whyNoActions(ports, access);
  if (noActions !== undefined) throw new AccessError(403, noActions);
}

/** Writes the change, and an annotation with the user's name. */
export async function requestAction(
  object: PatchedObject,
  { name, change }: { readonly name: string; readonly change: Change },
  { ports, access }: { readonly ports: ApiPorts; readonly access: Access },
): Promise<z.input<typeof requested>> {
  await policiesOf(ports).patch(access.credentials, object, toPatch(change, name, access.user));
  ports.logger.info({ policy: `${object.namespace}/${object.name}`, action: name, user: access.user }, 'action requested');
  return { requested: change.value };
}

function toPatch(change: Change, action: string, user: string): object {
  if ('spec' in change) return { spec: change.spec };
  if ('metadata' in change) return { metadata: change.metadata };
  // What writes an annotation is one of the actions whose names it may have.
  const by = { [requestedByAnnotation]: formatRequest(action as ActionName, change.value, user) };
  return { metadata: { annotations: { [actionAnnotations[change.annotation]]: change.value, ...by } } };
}
