/** The output of `image-watcher rebase`. */
import { defined } from '../../../core/model/defined.ts';
import { nameOf } from '../../rebase/match-layers.ts';
import { formatRebased, type RebaseResult } from '../../rebase/rebase-image.ts';
import { countOf } from '../../../service/command-line/output.ts';

/** The result of a rebase as data, for programs. */
export function summarize(result: RebaseResult) {
  if (result.kind === 'refused') return result;
  const { application, newBase } = result;
  const images = { image: nameOf(application), digest: application.digest, onto: nameOf(newBase), newBaseDigest: newBase.digest };
  if (result.kind === 'current') return { kind: result.kind, ...images };
  const { kind, plan, existed, transferred } = result;
  return {
    kind,
    ...images,
    from: nameOf(plan.oldBase),
    oldBaseDigest: plan.oldBase.digest,
    rebased: formatRebased(result),
    rebasedDigest: plan.image.digest,
    existed,
    platforms: plan.platforms,
    baseLayers: plan.layers.length,
    notes: plan.notes,
    ...defined({ transferred }),
  };
}

/** The result of a rebase as sentences, for people. */
export function formatResult(result: RebaseResult): string {
  if (result.kind === 'refused') {
    const remedy = result.rules.length === 0 ? '' : `; to rebase it anyway: ${result.rules.map((rule) => `--allow ${rule}`).join(' ')}`;
    return `the image is not rebased (${result.reason}): ${result.message}${remedy}\n`;
  }
  if (result.kind === 'current') return `${nameOf(result.application)} is built on ${nameOf(result.newBase)} already\n`;
  const { kind, plan, existed, transferred, newBase, application } = result;
  const name = formatRebased(result);
  const about = [
    `${nameOf(application)}: ${nameOf(plan.oldBase)} → ${nameOf(newBase)} (${plan.platforms.join(', ')})`,
    ...plan.notes.map((note) => `note: ${note}`),
  ];
  const { digest } = plan.image;
  if (kind === 'planned') about.push(existed ? `${name} has this image already (${digest})` : `would write ${name} (${digest})`);
  else if (existed) about.push(`${name} had this image already (${digest})`);
  else {
    const { mountedBlobs = 0, uploadedBytes = 0 } = transferred ?? {};
    about.push(`${name} (${digest})`);
    about.push(
      `${countOf(mountedBlobs, 'layer')} mounted, ${countOf(uploadedBytes, 'byte')} of manifests and configurations uploaded, no layer transferred`,
    );
  }
  return `${about.join('\n')}\n`;
}
