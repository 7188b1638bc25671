/** `/api/v1/namespaces/NAME`: whether the service considers the policies of a namespace. Policies that it ignores get no status that could show this. */
import { type Access, AccessError } from './access.ts';

export interface SelectedNamespaces {
  /** Whether the labels of namespaces are known, as far as they decide anything. */
  readonly areKnown: () => boolean;
  /** Why the policies of a namespace are not considered, and what to do; undefined if they are. */
  readonly whyNotSelected: (namespace: string) => string | undefined;
}

export type NamespaceAnswer =
  | { readonly namespace: string; readonly isSelected: true }
  | { readonly namespace: string; readonly isSelected: false; readonly reason: 'NamespaceNotSelected'; readonly message: string };

/** Answers a caller who may get the policies in the namespace; throws AccessError. */
export async function answerNamespace(
  namespaces: SelectedNamespaces | undefined,
  access: Access,
  namespace: string,
): Promise<NamespaceAnswer> {
  if (!(await access.may({ verb: 'get', namespace })))
    throw new AccessError(403, `this needs permission to get imagepolicies in the namespace ${namespace}`);
  if (namespaces === undefined)
    throw new AccessError(503, 'this process does not have the role work, so it knows no namespaces: send the request to one that has');
  if (!namespaces.areKnown()) throw new AccessError(503, 'the namespaces are not known at present; /readyz?verbose says why');
  const message = namespaces.whyNotSelected(namespace);
  return message === undefined
    ? { namespace, isSelected: true }
    : { namespace, isSelected: false, reason: 'NamespaceNotSelected', message };
}
