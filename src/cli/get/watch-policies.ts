import { once } from 'node:events';
import type { KubeClient } from '../../service/kube/client.ts';
import { createObjectStore, type StoredObject } from '../../service/kube/object-store.ts';
import { listPath } from '../../service/kube/objects.ts';
import { startReflector } from '../../service/kube/reflector.ts';
import { readMetadata } from '../../service/kube/watch-events.ts';
import type { policyResource } from '../../service/resources/group.ts';

interface RawPolicy extends StoredObject {
  readonly raw: unknown;
}

/** Reports every change of the policies of a namespace, or of all, until the signal is aborted. `known`: the policies that the caller has already. */
export async function watchPolicies(
  client: KubeClient,
  namespace: string | undefined,
  options: {
    readonly resource: typeof policyResource;
    readonly known: readonly unknown[];
    readonly signal: AbortSignal | undefined;
    readonly onChange: (raw: unknown, isGone: boolean) => void;
    readonly onError: (error: unknown) => void;
  },
): Promise<void> {
  const { resource, known, signal = new AbortController().signal, onChange, onError } = options;
  const store = createObjectStore<RawPolicy>();
  for (const raw of known) store.put(project(raw));
  store.subscribe(({ type, object }) => onChange(object.raw, type === 'deleted'));
  const reflector = startReflector({ client, path: listPath(resource, namespace), project, store, onError });
  if (!signal.aborted) await once(signal, 'abort');
  await reflector.stop();
}

function project(raw: unknown): RawPolicy {
  return { uid: '', ...readMetadata(raw), raw };
}
