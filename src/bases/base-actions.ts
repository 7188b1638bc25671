/** What BaseImagePolicies act through: registries for rebases, the API server for children, and CI systems for rebuilds. */
import { z } from 'zod';
import { defined } from '../core/model/defined.ts';
import { readPolicy } from '../service/resources/read-policy.ts';
import type { ActPorts } from './policies/act.ts';
import { labelValue, parentLabel, type Child } from './policies/child-policies.ts';
import { rememberRebases } from './policies/remember-rebases.ts';
import { policyResource } from '../service/resources/group.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { createOwnedObjects } from '../service/kube/owned-objects.ts';
import { readRunningPods, restartWorkload } from '../service/kube/restart-workload.ts';
import { baseAnnotation } from '../core/model/base-policy.ts';
import { actionAnnotations } from '../core/model/policy-actions.ts';
import { mayPush } from '../core/model/push-grant.ts';
import { openCredentials } from '../service/compose/registries.ts';
import type { BasePorts } from './policies/ports.ts';
import { createPolicyRebases, type PolicyRebaseMeans } from './rebase/rebase-for-policy.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import { readContextOf } from '../service/compose/work-ports.ts';

const storedChild = z.object({
  metadata: z.object({ annotations: z.looseObject({ [baseAnnotation]: z.string() }) }),
  spec: z.object({
    image: z.string(),
    select: z.object({ replace: z.object({ from: z.string(), to: z.string() }) }),
    targets: z.tuple([
      z.object({
        apiVersion: z.string().exactOptional(),
        kind: z.string(),
        namespace: z.string(),
        name: z.string(),
        containers: z.array(z.string()),
        initContainers: z.boolean().default(false),
      }),
    ]),
    update: z.object({ pin: z.string().exactOptional() }).exactOptional(),
  }),
});

/** Lists, creates, deletes and rolls back the children at the API server. An object whose shape differs from that of a created child is not a child. */
function createChildren(foundation: Foundation, client: KubeClient): ActPorts['children'] {
  const owned = createOwnedObjects(client, policyResource);
  const context = readContextOf(foundation);
  const readChild = (raw: unknown): Child[] => {
    const read = storedChild.safeParse(raw);
    if (!read.success) return [];
    const { metadata, spec } = read.data;
    const [{ containers, initContainers, ...workload }] = spec.targets;
    const policy = readPolicy(raw, context);
    const uid = policy.parent?.workload;
    const replacement = {
      workload,
      ...defined({ uid }),
      containers,
      hasInitContainers: initContainers,
      repository: spec.image,
      ...spec.select.replace,
      isPinned: spec.update?.pin === 'Digest',
    };
    return [{ policy, base: metadata.annotations[baseAnnotation] ?? '', replacement }];
  };
  return {
    async list(parent, signal) {
      const { namespace, uid } = parent;
      const listed = await owned.list({ namespace, uid, labelSelector: `${parentLabel}=${labelValue(parent)}` }, signal);
      return listed.flatMap(readChild);
    },
    create: (manifest, signal) => owned.create(manifest, signal),
    remove: ({ policy }, signal) => owned.remove(policy, signal),
    async rollBack({ policy, replacement, base }, signal) {
      const value = `${replacement.from} ${base.slice(0, 19)}`;
      if (policy.actions?.rollbackTo !== value) await owned.annotate(policy, { [actionAnnotations.rollbackTo]: value }, signal);
    },
  };
}

/** The ports of all actions of BaseImagePolicies. */
export function createBaseActions(
  foundation: Foundation,
  client: KubeClient,
  means: Omit<PolicyRebaseMeans, 'now' | 'own'> &
    Pick<ActPorts, 'rebuilds' | 'readWorkload'> &
    Pick<ActPorts['restarts'], 'readConsent'> & { readonly isSelected: (namespace: string) => boolean },
): Omit<ActPorts, 'facts' | 'cluster'> & Pick<BasePorts, 'mayPush'> {
  const { aliases, settings } = foundation;
  const own: PolicyRebaseMeans['own'] = {
    credentials: openCredentials(foundation, means.readSecret),
    mayPush: (namespace, repository) => mayPush(settings.config.consents, namespace, repository, aliases),
  };
  return {
    children: createChildren(foundation, client),
    mayPush: own.mayPush,
    ...rememberRebases(createPolicyRebases({ ...means, own, now: Date.now }), Date.now),
    readWorkload: means.readWorkload,
    rebuilds: means.rebuilds,
    restarts: {
      read: (workload, signal) => readRunningPods(client, workload, signal),
      readConsent: means.readConsent,
      async restart(workload, state, signal) {
        return means.isSelected(workload.namespace) && restartWorkload(client, workload, state, signal);
      },
    },
  };
}
