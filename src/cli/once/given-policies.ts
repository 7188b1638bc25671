/** The policies of a run: those of files, whether or not the cluster has the definition, or those of the cluster. */
import { hash } from 'node:crypto';
import { kind, policyResource } from '../../service/resources/group.ts';
import { readPolicy } from '../../service/resources/read-policy.ts';
import type { ReadContext } from '../../service/resources/read-spec.ts';
import { asStored } from '../../service/resources/resource-group.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { objectPath, readObject } from '../../service/kube/objects.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import { fieldsOf, isObject } from '../../core/model/untyped.ts';
import { UsageError } from '../../service/command-line/command.ts';
import { readGroup } from '../resource-group.ts';
import type { Others } from '../explain/other-policies.ts';
import { listPolicies, metadataOf, openPolicy } from '../../service/command-line/policy-client.ts';
import { type PolicyName } from '../../service/command-line/policy-name.ts';
import type { GivenPolicy } from './policies.ts';

/** Reads policies of the cluster: the named ones, or all of a namespace, or (undefined) of all namespaces. */
export async function readStored(client: KubeClient, names: readonly PolicyName[], namespace: string | undefined): Promise<GivenPolicy[]> {
  const given: GivenPolicy[] = [];
  for (const name of names) given.push({ raw: await (await openPolicy(client, name)).read(), isStored: true });
  if (names.length > 0) return given;
  for await (const { items } of listPolicies(client, namespace)) given.push(...items.map((raw) => ({ raw, isStored: true })));
  return given;
}

/** The namespace of policies in files. */
export interface FileScope {
  /** The namespace of documents without one. */
  readonly namespace: string;
  /** Whether `--namespace` was given. Then no document may have another namespace. */
  readonly isNamed: boolean;
}

/**
 * A policy of a file as the API server would return it. If the cluster has a policy of that name, its identity and status are used, so that approvals, holds
 * and rejected images count. Otherwise the uid is derived from the name: workloads record it with a change, and the next run has to recognize it.
 */
export async function readFromFile(client: KubeClient, document: unknown, scope: FileScope): Promise<GivenPolicy> {
  const { metadata: written, ...rest } = asStored(document, (await readGroup()).olderVersions);
  const { name, namespace } = metadataOf(document);
  if (scope.isNamed && namespace !== '' && namespace !== scope.namespace)
    throw new UsageError(`${kind} ${name} is in the namespace ${namespace}, and --namespace is ${scope.namespace}: name one of them`);
  const where = namespace === '' ? scope.namespace : namespace;
  const stored = await readIfAny(client, where, name);
  const own = { uid: uidOf(where, name), resourceVersion: '0', generation: 1 };
  const known = isObject(stored) ? { metadata: stored['metadata'], status: stored['status'] } : undefined;
  const metadata = { ...fieldsOf(written), namespace: where, ...own };
  return { raw: { ...rest, metadata: known?.metadata ?? metadata, ...(known !== undefined && { status: known.status }) }, isStored: false };
}

/** Undefined if the cluster has no definition or no such policy, or if the user may not read it. */
async function readIfAny(client: KubeClient, namespace: string, name: string): Promise<unknown> {
  try {
    return await readObject<unknown>(client, objectPath(policyResource, namespace, name));
  } catch (error) {
    if (isKubeError(error, 403) || isKubeError(error, 404)) return undefined;
    throw error;
  }
}

const uidForm = /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/;

/** A UUID of version 8 that is derived from the name. */
function uidOf(namespace: string, name: string): string {
  return hash('sha256', `${kind} ${namespace}/${name}`).replace(uidForm, '$1-$2-8$3-8$4-$5');
}

/** The other policies of the cluster, as far as the user may list them. The tags that they follow, and their demands, affect a plan. */
export async function readOthers(client: KubeClient, namespace: string, context: ReadContext): Promise<Others> {
  const doubt = 'you may not list the ImagePolicies of all namespaces, so what others of them follow and demand is not known here';
  for (const where of [undefined, namespace]) {
    const policies: ImagePolicy[] = [];
    try {
      for await (const { items } of listPolicies(client, where)) policies.push(...items.map((raw) => readPolicy(raw, context)));
      return { policies, ...(where !== undefined && { doubt }) };
    } catch (error) {
      if (isKubeError(error, 404)) return { policies: [] };
      if (!isKubeError(error, 403)) throw error;
    }
  }
  return { policies: [], doubt };
}
