/** Shows where each image is on its way through the policies that a policy follows: one row per image, one column per policy. */
import { isUsable, policyKey, type ImagePolicy, type PolicyName } from '../../core/model/image-policy.ts';
import { imagesOnTheirWay, type Environment, type ImageOnItsWay, type Stage } from '../../core/model/environments.ts';
import { formatAge, formatTable } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';
import { gatherEnvironments } from '../../service/explain/gather-environments.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { objectPath, readObject } from '../../service/kube/objects.ts';
import { policyResource } from '../../service/resources/group.ts';
import { readPolicy } from '../../service/resources/read-policy.ts';
import type { ReadContext } from '../../service/resources/read-spec.ts';

/** The policies in the order of following, and the images. */
export interface Environments {
  readonly policies: readonly PolicyName[];
  readonly images: readonly ImageOnItsWay[];
}

/** Reads what a policy follows with the caller's own rights; what the caller may not read is as the policy has seen it last. Undefined for a policy that follows none. */
export async function readEnvironments(client: KubeClient, policy: ImagePolicy, context: ReadContext): Promise<Environments | undefined> {
  if (!isUsable(policy.spec) || policy.spec.after === undefined) return undefined;
  const see = async ({ namespace, name }: PolicyName) => {
    try {
      const raw = await readObject<unknown>(client, objectPath(policyResource, namespace, name));
      return raw === undefined ? undefined : readPolicy(raw, context);
    } catch (error) {
      if (isKubeError(error, 403)) return undefined;
      throw error;
    }
  };
  const { environments, unseen } = await gatherEnvironments(policy, { see });
  const keys = new Set(unseen.map(policyKey));
  const seenBefore = (policy.status.follows ?? []).filter((one) => keys.has(policyKey(one)));
  const all: readonly Environment[] = [...seenBefore, ...environments];
  return { policies: all.map(({ namespace, name }) => ({ namespace, name })), images: imagesOnTheirWay(all) };
}

/** The rows as a table, with an empty line above. */
export function environmentTable({ policies, images }: Environments, now: Date): string {
  const rows = [
    ['IMAGE', ...policies.map(policyKey)],
    ...images.map((image) => [nameOf(image), ...policies.map((policy) => cellOf(image, policy, now))]),
  ].map((row) => row.map((cell) => printable(cell)));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return `\n${formatTable(rows, widths)
    .map((line) => line.trimEnd())
    .join('\n')}\n`;
}

function nameOf({ tag, digest }: ImageOnItsWay): string {
  return [...(tag === undefined ? [] : [tag]), `${digest.slice(0, 19)}…`].join(' ');
}

function cellOf({ stages }: ImageOnItsWay, policy: PolicyName, now: Date): string {
  const stage = stages.find((one) => policyKey(one) === policyKey(policy));
  if (stage === undefined) return '-';
  const { state, since, until, reason } = stage;
  const age = since === undefined ? '' : ` for ${formatAge(new Date(since), now)}`;
  const ago = since === undefined ? '' : ` ${formatAge(new Date(since), now)} ago`;
  const end = until === undefined ? '' : ` until ${until}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  const texts: Readonly<Record<Stage['state'], string>> = {
    Healthy: `healthy${age}`,
    Runs: `runs${age}`,
    RollingOut: `rolling out${age}${why}`,
    Failed: `failed${ago}${why}`,
    Approval: `waits for approval${age}`,
    NotCopied: 'not copied',
    Waits: `waits${age}${end}${why}`,
    Ran: `ran${ago}`,
  };
  return texts[state];
}
