/** What the ImagePolicies of a BaseImagePolicy report goes to the teams whose workloads they change. */
import { isUsableBase, type BaseImagePolicy } from '../core/model/base-policy.ts';
import { defined } from '../core/model/defined.ts';
import { isUsable, type ImagePolicy } from '../core/model/image-policy.ts';
import { formatRepository } from '../core/model/image-reference.ts';
import type { IdentifiedNotice, NoticeKind } from '../core/model/notice.ts';
import type { WorkWing } from '../service/compose/work-wing.ts';
import type { BasePolicyCache } from './base-policy-cache.ts';
import { workloadKey } from '../core/model/workload.ts';
import { isChildOf } from './policies/child-policies.ts';
import { formatBase } from './policies/image-notices.ts';

/** The kinds of notices that a BaseImagePolicy reports for all its children, to the platform and to teams. */
const reportedByParent: ReadonlySet<NoticeKind> = new Set(['Updated', 'RolledOut']);
/** The kinds of notices that the team of the workload gets. What blocks a policy goes on to the policy's own namespace. */
const forTeams: ReadonlySet<NoticeKind> = new Set(['RolloutFailed', 'RolledBack']);

/** Only a policy that the BaseImagePolicy itself created is its child. */
export function createNoticeForChild({ get }: Pick<BasePolicyCache['policies'], 'get'>): NonNullable<WorkWing['rewriteNotice']> {
  return (policy, identified) => {
    const parent = policy.parent && get(policy.namespace, policy.parent.name);
    return parent !== undefined && isChildOf(policy, parent) ? noticeForTeam(policy, parent, identified) : identified;
  };
}

/** The notice about the image for the namespace of its workload; undefined for what the BaseImagePolicy reports for all its children. Pure. */
function noticeForTeam(child: ImagePolicy, parent: BaseImagePolicy, { notice, identity }: IdentifiedNotice): IdentifiedNotice | undefined {
  if (!isUsable(child.spec) || !isUsableBase(parent.spec)) return undefined;
  const { strategy, targets, repository } = child.spec;
  const { kind } = notice;
  const [target] = targets;
  if (reportedByParent.has(kind)) return kind === 'Updated' && !hasBegun(child, parent) ? { notice, identity } : undefined;
  if (!forTeams.has(kind) || target === undefined) return { notice, identity };
  const { eventId: _, from: __, ...kept } = notice;
  const base = baseOf(parent, child.parent?.base);
  return {
    identity,
    notice: {
      ...kept,
      subject: {
        kind: 'Image',
        namespace: target.namespace,
        name: `${formatRepository(repository)}:${strategy.replaces ?? ''}`,
        uid: child.uid,
      },
      ...defined({ base: base && formatBase({ spec: parent.spec }, base) }),
    },
  };
}

/** Whether the status of the parent shows the change. Only the service writes that status; the author of a policy may write all else, also a child's name and owner. */
function hasBegun({ spec, parent: own }: ImagePolicy, { status: { lastWave, dependents = [] } }: BaseImagePolicy): boolean {
  if (!isUsable(spec)) return false;
  const { strategy, targets, repository } = spec;
  const keys = targets.flatMap(({ name, ...target }) => (name === undefined ? [] : [workloadKey({ ...target, name })]));
  const isInWave = lastWave?.base === own?.base && keys.some((key) => lastWave?.workloads.includes(key) === true);
  const image = `${formatRepository(repository)}:${strategy.replaces ?? ''}`;
  return isInWave || dependents.some((one) => one.image === image && one.rebased !== undefined && one.rebased === strategy.mutableTag);
}

function baseOf({ status: { latest, history = [] } }: BaseImagePolicy, digest: string | undefined) {
  if (digest === undefined) return undefined;
  const tag = [latest, ...history].find((one) => one?.digest === digest)?.tag ?? '';
  return { tag, digest };
}
