/** Reads the policies and workloads of a file as the service would. `lint` compares them with each other. */
import { kind } from '../../service/resources/group.ts';
import { readPolicy } from '../../service/resources/read-policy.ts';
import { asStored, olderVersionOf, type ResourceGroup } from '../../service/resources/resource-group.ts';
import type { CheckContext } from '../../service/resources/rules.ts';
import { isPolicy } from '../../service/resources/validate.ts';
import type { Keys } from '../../service/resources/validation/problem.ts';
import { isWanted, projectWorkload } from '../../service/kube/project-workload.ts';
import { findBuiltIn } from '../../service/kube/targets.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import { fieldsOf, textOrEmpty } from '../../core/model/untyped.ts';
import type { Workload } from '../../core/model/workload.ts';
import type { Position } from '../manifests/read-documents.ts';

/** An ImagePolicy of a file. */
export interface WrittenPolicy {
  readonly policy: ImagePolicy;
  /** The object as the API server would store it. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly positionOf: (keys: Keys) => Position;
  /** The location of a target, by its index. */
  readonly targetKeys: (index: number) => Keys;
}

/** The policies and workloads of a file, which `lint` compares with those of other files. */
export interface Manifests {
  readonly policies: readonly WrittenPolicy[];
  readonly workloads: readonly Workload[];
}

const nothing: Manifests = { policies: [], workloads: [] };

/** Reads an object as a policy or as a workload. Neither, if it is of another kind, or has no name. */
export function readManifest(
  value: unknown,
  positionOf: WrittenPolicy['positionOf'],
  resources: ResourceGroup,
  { aliases = new Map(), customTargets = [] }: Omit<CheckContext, 'namespace'> = {},
): Manifests {
  const object = fieldsOf(value);
  const { name, namespace } = fieldsOf(object['metadata']);
  if (typeof name !== 'string' || name === '') return nothing;
  if (!isPolicy(value, resources)) return { ...nothing, workloads: readWorkload(object) };
  if (object['kind'] !== kind || typeof object['apiVersion'] !== 'string') return nothing;
  const { olderVersions } = resources;
  const older = olderVersionOf(object, olderVersions);
  const converted = asStored(object, olderVersions);
  const key = `${textOrEmpty(namespace)}/${name}`;
  // Two files may contain the same policy. Only the one that is applied last counts.
  const metadata = {
    ...fieldsOf(converted['metadata']),
    name,
    namespace: textOrEmpty(namespace),
    uid: key,
    resourceVersion: '0',
    generation: 1,
  };
  const raw = { ...converted, metadata };
  const targetKeys = (index: number): Keys => older?.targetKeys(index) ?? ['spec', 'targets', index];
  return { ...nothing, policies: [{ policy: readPolicy(raw, { aliases, customTargets, olderVersions }), raw, positionOf, targetKeys }] };
}

function readWorkload(object: Readonly<Record<string, unknown>>): Workload[] {
  const { apiVersion: version, kind: written } = object;
  if (typeof version !== 'string' || typeof written !== 'string') return [];
  const target = findBuiltIn({ apiVersion: version, kind: written });
  return target?.apiVersion === version && isWanted(target, object) ? [projectWorkload(target, object)] : [];
}
