import { fieldOf, has, type Finding } from '../rules.ts';

/** The kinds that are written without an API version, and their groups. */
export const knownKinds: Readonly<Record<string, string>> = {
  Deployment: 'apps',
  StatefulSet: 'apps',
  DaemonSet: 'apps',
  CronJob: 'batch',
  ReplicaSet: 'apps',
};

const servedVersion = 'v1';

/**
 * A kind of Kubernetes, or one with its API version. No rule of the schema: targets that were written in v1alpha1 may have any
 * kind, and are told so in the status.
 */
export function checkTargetKind(target: unknown): Finding[] {
  const kind = fieldOf(target, 'kind');
  // What is no kind at all is told there.
  if (typeof kind !== 'string' || !/^[A-Z][A-Za-z0-9]*$/.test(kind)) return [];
  const group = Object.hasOwn(knownKinds, kind) ? knownKinds[kind] : undefined;
  if (!has(target, 'apiVersion')) {
    if (group !== undefined) return [];
    const kinds = Object.keys(knownKinds).join(', ');
    return [finding('kind', `"${kind}" is none of ${kinds}: write its apiVersion as well, as for every custom resource`)];
  }
  const apiVersion = String(fieldOf(target, 'apiVersion'));
  const written = groupOf(apiVersion);
  // Groups of custom resources are domains.
  if (written.includes('.')) return [];
  if (group === undefined || written !== group) {
    return [
      finding(
        'apiVersion',
        `${kind} of ${apiVersion} cannot be updated: write one of ${Object.keys(knownKinds).join(', ')}, or a custom resource`,
      ),
    ];
  }
  if (apiVersion !== `${group}/${servedVersion}`)
    return [finding('apiVersion', `${kind} is read as ${group}/${servedVersion}: remove apiVersion`)];
  if (has(target, 'fields')) return [finding('fields', `fields are for custom resources: a ${kind} has containers, remove fields`)];
  return [];
}

function finding(key: string, message: string): Finding {
  return { keys: [key], message, reason: 'UnsupportedTargetKind' };
}

/** `apps` of `apps/v1`; nothing for `v1`. */
export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}
