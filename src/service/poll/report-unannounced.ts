/** Detects missing webhooks by images that polls find, which should have been announced. */
import { isUsable, policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { formatRepository, type Repository } from '../../core/model/image-reference.ts';
import type { IdentifiedNotice } from '../../core/model/notice.ts';
import type { UnannouncedFinds } from '../queue/unannounced-finds.ts';
import type { Ports } from '../reconcile/ports.ts';
import { formatTag } from '../reconcile/resolve-tag.ts';
import type { Find } from './evaluate-policies.ts';

export interface UnannouncedPorts extends Pick<Ports, 'report' | 'cluster'> {
  readonly poll: {
    readonly finds: UnannouncedFinds;
    /** The label of a registry in metrics. Labels are limited, because tenants choose hosts and could create any number of them. */
    readonly registryLabel: (registry: string) => string;
    /** Passes a notice to the targets of notifications; never rejects. */
    readonly notify: (policy: ImagePolicy, notice: IdentifiedNotice) => Promise<void>;
  };
}

const firstReportedAt = 3;

/** Counts images that no webhook had announced, by registry; reports the third one in a row, the sixth, the twelfth and so on. */
export async function reportUnannounced(finds: readonly Find[], repository: Repository, ports: UnannouncedPorts): Promise<void> {
  for (const { policy, candidate } of onePerImage(finds.filter(isNews))) {
    if (await ports.poll.finds.isAnnounced(repository, candidate)) continue;
    const image = formatTag(repository, candidate.tag);
    const expected = await ports.poll.finds.countWith(repository, candidate);
    if (expected === undefined) continue;
    // The report comes before the count. A process that dies in between then reports the same count again, under the same identity.
    if (isWorthReporting(expected)) await report(policy, image, { repository, count: expected }, ports);
    const count = await ports.poll.finds.add(repository, candidate, new Date(ports.cluster.now()));
    if (count === undefined) continue;
    ports.report.metrics.unannouncedFinds.inc({ registry: ports.poll.registryLabel(repository.registry) });
    // Another poll has counted a find since the count was read.
    if (count !== expected && isWorthReporting(count)) await report(policy, image, { repository, count }, ports);
  }
}

/** Whether the registry holds a newer image than the policy had selected. Otherwise somebody changed the running images or the policy, or deleted a tag. */
function isNews({ policy: { spec, generation, status }, candidate }: Find): boolean {
  const { latest } = status;
  if (latest === undefined || status.observedGeneration !== generation || !isUsable(spec)) return false;
  const { strategy } = spec;
  if (latest.tag !== candidate.tag) return strategy.reject(latest.tag) !== undefined || strategy.compare(candidate.tag, latest.tag) > 0;
  return latest.digest !== undefined && candidate.digest !== undefined && latest.digest !== candidate.digest;
}

function onePerImage(finds: readonly Find[]): Find[] {
  return [
    ...new Map(finds.toReversed().map((find) => [`${find.candidate.tag}@${find.candidate.digest ?? ''}`, find])).values(),
  ].toReversed();
}

function isWorthReporting(count: number): boolean {
  return count >= firstReportedAt && Number.isInteger(Math.log2(count / firstReportedAt));
}

async function report(
  policy: ImagePolicy,
  image: string,
  { repository, count }: { repository: Repository; count: number },
  { report: { recordEvent, logger }, cluster, poll }: UnannouncedPorts,
): Promise<void> {
  const { apiVersion, namespace, name, uid } = policy;
  const { registry } = repository;
  const message =
    `polls found ${count} images at ${registry} that no webhook had announced, and none was announced since; the last one is ${image}. ` +
    `Check the registry's webhook: does it send pushes of this repository to the URL of its receiver, with the right secret? ` +
    `"image-watcher events --repository ${formatRepository(repository)}" shows what arrived. A registry that sends none is only polled`;
  const regarding = { apiVersion, kind: 'ImagePolicy', namespace, name, uid };
  recordEvent({ regarding, type: 'Warning', reason: 'WebhookMissing', action: 'Poll', message });
  const fields = { registry, count, image, policy: policyKey(policy) };
  logger.warn(fields, "found by polls, not announced: check the registry's webhook, the receiver's URL, and image-watcher events");
  const subject = { kind: 'ImagePolicy' as const, namespace, name, uid };
  const notice = { kind: 'WebhookMissing' as const, subject, at: new Date(cluster.now()).toISOString(), reason: 'WebhookMissing', message };
  await poll.notify(policy, { notice, identity: [registry, 'WebhookMissing', String(count)] });
}
