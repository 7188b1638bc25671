/** Objects that one of our own resources owns: created with a reference to their owner, and found by a label. */
import { isObject, fieldsOf } from '../../core/model/untyped.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import { listPages, listPath, objectPath, type Resource } from './objects.ts';

/** An owner, and how to find its objects. */
export interface Owner {
  readonly namespace: string;
  readonly uid: string;
  /** The selector of the owner's objects: `key=value`. */
  readonly labelSelector: string;
}

/** The identity of an object as it is stored. */
export interface OwnedObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface OwnedObjects {
  /** Lists all objects whose controller is the owner, as the API server stores them. The owner's uid decides, because anybody may write the label. */
  list(owner: Owner, signal: AbortSignal): Promise<readonly unknown[]>;
  /** Creates an object unless an object of its name exists. */
  create(manifest: { readonly metadata: { readonly namespace: string } }, signal: AbortSignal): Promise<void>;
  /** Deletes this object, if it still exists. Another object of its name is not deleted. */
  remove(object: OwnedObject, signal: AbortSignal): Promise<void>;
  /** Sets annotations of an object, if it still exists. */
  annotate(object: OwnedObject, annotations: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void>;
}

/** The owned objects of one resource. Where objects are large, a page has few of them. */
export function createOwnedObjects(client: KubeClient, resource: Resource, { pageSize = 500 } = {}): OwnedObjects {
  return {
    async list({ namespace, uid, labelSelector }, signal) {
      const owned: unknown[] = [];
      for await (const { items } of listPages(client, { path: listPath(resource, namespace), pageSize, labelSelector, signal })) {
        owned.push(...items.filter((item) => controllerOf(item) === uid));
      }
      return owned;
    },
    async create(manifest, signal) {
      const path = listPath(resource, manifest.metadata.namespace);
      try {
        await client.request({ method: 'POST', path, query: { fieldManager }, body: manifest, signal });
      } catch (error) {
        if (!isKubeError(error, 409)) throw error;
      }
    },
    async remove({ namespace, name, uid }, signal) {
      const path = objectPath(resource, namespace, name);
      const body = { preconditions: { uid }, propagationPolicy: 'Background' };
      await unlessGone(client.request({ method: 'DELETE', path, body, signal }));
    },
    async annotate({ namespace, name, uid }, annotations, signal) {
      const path = objectPath(resource, namespace, name);
      const body = { metadata: { uid, annotations } };
      await unlessGone(
        client.request({ method: 'PATCH', path, query: { fieldManager }, contentType: 'application/merge-patch+json', body, signal }),
      );
    },
  };
}

/** Ignores errors for an object that does not exist any more. 404: it is gone. 409, or 422 for the uid: another object has its name now. */
async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    const isOther = isKubeError(error, 422) && error.causes.some(({ field }) => field === 'metadata.uid');
    if (!isOther && !isKubeError(error, 404) && !isKubeError(error, 409)) throw error;
  }
}

function controllerOf(item: unknown): unknown {
  const references = fieldsOf(fieldsOf(item)['metadata'])['ownerReferences'];
  const controller = Array.isArray(references) ? references.find((one: unknown) => isObject(one) && one['controller'] === true) : undefined;
  return fieldsOf(controller)['uid'];
}
