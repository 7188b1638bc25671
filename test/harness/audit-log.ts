/** What the API server writes down about each request: who asked for what, and whether he might. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { flags } from './flags.ts';
import type { Rule } from './service-account.ts';

/** A request for an object or a collection, in the words of RBAC. */
export interface AuditedRequest {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `imagepolicies/status`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly isForbidden: boolean;
}

/** A right: one verb on one resource of one group, by name or (undefined) whatever the name. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name: string | undefined;
}

export interface AuditLog {
  readonly flags: readonly string[];
  /** The requests of a service account so far, for objects and collections. */
  requestsOf(account: { readonly namespace: string; readonly name: string }): AuditedRequest[];
}

interface RawEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { apiGroup?: string; resource: string; subresource?: string; namespace?: string; name?: string };
  readonly annotations?: Record<string, string>;
}

/** A log in the folder, for an API server that gets its flags. */
export function createAuditLog(dir: string): AuditLog {
  const [policy, log] = [join(dir, 'audit-policy.yaml'), join(dir, 'audit.log')];
  // A watch is written down when it begins, everything else when it is answered as well.
  writeFileSync(policy, stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }));
  const read = (): RawEvent[] => {
    const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
    // The last line may be half written.
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as RawEvent);
  };
  return {
    flags: flags({ 'audit-policy-file': policy, 'audit-log-path': log, 'audit-log-mode': 'blocking' }),
    requestsOf({ namespace, name }) {
      const user = `system:serviceaccount:${namespace}:${name}`;
      return read()
        .filter((event) => event.user.username === user)
        .flatMap(toRequest);
    },
  };
}

/** Each right that a rule gives. */
export function rightsOf(rules: readonly Rule[]): Right[] {
  return rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [undefined] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.flatMap((verb) => resourceNames.map((name) => ({ group, resource, verb, name })))),
    ),
  );
}

/** Whether the request needed the right. */
export function isUseOf(right: Right, request: AuditedRequest): boolean {
  const { verb, group, resource, name } = right;
  return request.verb === verb && request.group === group && request.resource === resource && (name === undefined || request.name === name);
}

function toRequest({ verb, user, objectRef, annotations = {} }: RawEvent): AuditedRequest[] {
  if (objectRef === undefined) return [];
  const { apiGroup = '', resource, subresource, namespace, name } = objectRef;
  return [
    {
      user: user.username,
      verb,
      group: apiGroup,
      resource: subresource === undefined ? resource : `${resource}/${subresource}`,
      namespace,
      name,
      isForbidden: annotations['authorization.k8s.io/decision'] === 'forbid',
    },
  ];
}
