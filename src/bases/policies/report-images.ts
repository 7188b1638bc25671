/** Reports to the teams of workloads what has become of their images. */
import { describeError } from '../../core/model/errors.ts';
import { isUsableBase, type BaseImagePolicy } from '../../core/model/base-policy.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { imageNotices, keysOf, unreported } from './image-notices.ts';
import type { Findings } from './next-base-status.ts';
import type { BasePorts } from './ports.ts';

type ReportImagesPorts = Pick<BasePorts, 'notices' | 'reported' | 'cluster'> & { readonly report: Pick<BasePorts['report'], 'logger'> };

/** Reports what has not been reported yet. Returns false if that has to be repeated, which makes no second notice. Never rejects. */
export async function reportImages(policy: BaseImagePolicy, found: Findings, ports: ReportImagesPorts): Promise<boolean> {
  const { notices, reported, cluster, report } = ports;
  if (!isUsableBase(policy.spec)) return true;
  const due = imageNotices({ ...policy, spec: policy.spec }, found, new Date(cluster.now()).toISOString());
  if (due.length === 0) return true;
  const scope = { uid: policy.uid, base: found.base.digest };
  try {
    const known = await reported.read(scope, keysOf(due));
    if (known === undefined) return false;
    const news = unreported(due, known);
    if (news.length === 0) return true;
    await notices.add(news.map(({ identified }) => identified));
    await reported.add(
      scope,
      news.flatMap(({ key, covers }) => [key, ...covers]),
    );
    return true;
  } catch (error) {
    report.logger.warn({ policy: policyKey(policy), why: describeError(error) }, 'notices not stored');
    return false;
  }
}
