/**
 * The versions that a BaseImagePolicy has seen, in BaseImageRecords: objects that the policy owns, each with some hundred versions. They are read once for each
 * policy and process, and again if another replica is known to have seen more.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { inSlices } from '../../core/async/in-parallel.ts';
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import { hashId } from '../../core/model/push-event.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { listPath, objectPath } from '../../service/kube/objects.ts';
import { createOwnedObjects } from '../../service/kube/owned-objects.ts';
import { retryOnConflict } from '../../service/kube/retry.ts';
import { baseKind, recordKind, recordPlural, recordResource } from '../../service/resources/group.ts';
import { apiVersion } from '../../service/resources/v1.ts';
import { boundVersions, measureVersions, mergeVersions, shareOut } from './merge-versions.ts';
import { readVersions, type SeenVersion } from './seen-version.ts';

type Owner = Pick<BaseImagePolicy, 'namespace' | 'name' | 'uid'>;

export interface RecordStore {
  /** All versions of a policy. With `atLeast`, they are read again if this process knows fewer. */
  read(policy: Owner, signal: AbortSignal, options?: { readonly atLeast?: number }): Promise<readonly SeenVersion[]>;
  /** Adds versions, and returns all. Those in use are never dropped, and none is with `keepsAll`. */
  add(
    policy: Owner,
    versions: readonly SeenVersion[],
    options: { readonly inUse: ReadonlySet<string>; readonly keepsAll?: boolean; readonly signal: AbortSignal },
  ): Promise<readonly SeenVersion[]>;
}

export interface RecordStoreOptions {
  readonly client: KubeClient;
  /** The label of the objects, and its value for a policy. */
  readonly label: { readonly key: string; readonly valueOf: (policy: Owner) => string };
  /** The maximum number of versions of a policy. */
  readonly max: number;
}

const envelope = z.looseObject({
  metadata: z.looseObject({ name: z.string(), uid: z.string(), resourceVersion: z.string() }),
  spec: z.unknown().optional(),
});

/** A record at the API server. */
interface StoredRecord {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly versions: readonly SeenVersion[];
}

const notInstalled = `the API server does not know ${recordPlural}: install their definition with "image-watcher crd apply" or the chart`;

/** A record may have almost a megabyte. */
const pageSize = 2;

/** Each conflict means that another replica has written, so that after as many tries as there are replicas, every one has. */
const maxTries = 20;

/** How many policies are kept in memory. */
const maxPolicies = 1_000;

/** Creates a store. It reads nothing before it is asked. */
export function createRecordStore({ client, label, max }: RecordStoreOptions): RecordStore {
  const owned = createOwnedObjects(client, recordResource, { pageSize });
  const known = new BoundedMap<string, readonly SeenVersion[]>(maxPolicies);

  const list = async ({ namespace, uid, name }: Owner, signal: AbortSignal): Promise<StoredRecord[]> => {
    const labelSelector = `${label.key}=${label.valueOf({ namespace, uid, name })}`;
    const listed = await owned.list({ namespace, uid, labelSelector }, signal).catch((error: unknown) => {
      throw isKubeError(error, 404) ? new Error(notInstalled, { cause: error }) : error;
    });
    const records: StoredRecord[] = [];
    await inSlices(listed, signal, (raw) => {
      const { data } = envelope.safeParse(raw);
      if (data !== undefined) records.push({ ...data.metadata, versions: readVersions(data.spec) });
    });
    return records.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  };

  const write = async (policy: Owner, record: StoredRecord | undefined, versions: readonly SeenVersion[], signal: AbortSignal) => {
    const { namespace, name, uid } = policy;
    const own = record ?? { name: recordName(policy, versions) };
    const metadata = {
      namespace,
      name: own.name,
      ...('uid' in own && { uid: own.uid, resourceVersion: own.resourceVersion }),
      labels: { [label.key]: label.valueOf(policy) },
      ownerReferences: [{ apiVersion, kind: baseKind, name, uid, controller: true, blockOwnerDeletion: false }],
    };
    const path = record === undefined ? listPath(recordResource, namespace) : objectPath(recordResource, namespace, own.name);
    const body = { apiVersion, kind: recordKind, metadata, spec: { versions } };
    await client.request({ method: record === undefined ? 'POST' : 'PUT', path, query: { fieldManager }, body, signal });
  };

  return {
    async read(policy, signal, { atLeast = 0 } = {}) {
      const found = known.get(policy.uid);
      if (found !== undefined && found.length >= atLeast) return found;
      const versions = (await list(policy, signal)).flatMap((record) => record.versions);
      known.set(policy.uid, versions);
      return versions;
    },
    async add(policy, versions, { inUse, keepsAll = false, signal }) {
      const all = await retryOnConflict(async () => {
        const records = await list(policy, signal);
        const stored = records.map((record) => record.versions);
        const union = boundVersions(mergeVersions(stored.flat(), versions), keepsAll ? Infinity : max, inUse);
        await measureVersions(union, signal);
        const changed: Changed[] = [];
        await inSlices(shareOut(union, stored).entries(), signal, ([index, share]) => {
          const record = records[index];
          if (!isDeepStrictEqual(record?.versions, share)) changed.push({ record, share });
        });
        // What moves is written in its new record before it is removed from its former one.
        for (const { record, share } of changed.toSorted((a, b) => Number(isReduced(a)) - Number(isReduced(b))))
          await write(policy, record, share, signal);
        return union;
      }, maxTries);
      known.set(policy.uid, all);
      return all;
    },
  };
}

/** A record, and the versions that it has from now on. */
interface Changed {
  readonly record: StoredRecord | undefined;
  readonly share: readonly SeenVersion[];
}

/** Whether a record loses versions. */
function isReduced({ record, share }: Changed): boolean {
  const digests = new Set(share.map(({ digest }) => digest));
  return record?.versions.some(({ digest }) => !digests.has(digest)) ?? false;
}

const maxPrefix = 200;

/** The name of a new record: `java-3f9c2a7d51`. Replicas that add different versions create different records. */
function recordName({ name, uid }: Owner, versions: readonly SeenVersion[]): string {
  const hash = hashId([uid, ...versions.map(({ digest }) => digest)]).slice(0, 16);
  return `${name.slice(0, maxPrefix).replace(/[^a-z0-9]+$/, '')}-${hash}`;
}
