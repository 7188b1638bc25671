/** What counts for a policy besides its own text: the defaults of its namespace and of the cluster, and whether its namespace is selected at all. */
import { isUsable, type ImagePolicy, type PolicySpec, type UpdateWindow } from '../../model/image-policy.ts';
import {
  isSelected,
  matchingDefaults,
  needsLabels,
  notSelected,
  withDefaults,
  type DefaultedSetting,
  type Labels,
  type NamespaceRules,
  type Origin,
} from '../../model/policy-defaults.ts';
import { formatDuration } from '../../model/text.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';

/** A policy with its defaults, or why its namespace is not considered. */
export interface Considered {
  readonly policy: ImagePolicy;
  readonly why?: string;
  /** What could not be found out. */
  readonly doubt?: string;
}

/** Reads the labels of the namespace where they decide anything, with the caller's own rights. */
export async function applyNamespaceRules(client: KubeClient, policy: ImagePolicy, rules: NamespaceRules): Promise<Considered> {
  const { namespace, spec } = policy;
  const { labels, doubt } = needsLabels(rules) ? await readLabels(client, namespace) : {};
  if (doubt === undefined && !isSelected(rules, labels)) return { policy, why: `NamespaceNotSelected: ${notSelected(namespace)}` };
  const used = isUsable(spec) ? withDefaults(spec, matchingDefaults(rules, namespace, labels), rules.cluster) : spec;
  return { policy: { ...policy, spec: used }, ...(doubt !== undefined && { doubt }) };
}

async function readLabels(client: KubeClient, namespace: string): Promise<{ readonly labels?: Labels; readonly doubt?: string }> {
  const { readNamespace } = await import('../../kube/namespaces.ts');
  try {
    return { labels: (await readNamespace(client, namespace))?.labels };
  } catch (error) {
    if (!isKubeError(error, 403)) throw error;
    return {
      doubt: `you may not read Namespace ${namespace}, so its labels are not known here: whether it is selected, and which defaults it has`,
    };
  }
}

/** The value of a setting, and where it comes from. */
interface Setting {
  readonly value: unknown;
  readonly from: Origin;
}

/** The settings that have defaults, for programs. */
export function settingsOf(spec: PolicySpec): Readonly<Record<DefaultedSetting, Setting>> {
  const { origins, pollIntervalMs, minAgeMs, windows, rollout } = spec;
  return {
    poll: { value: formatDuration(pollIntervalMs), from: origins.poll },
    minAge: { value: minAgeMs === undefined ? null : formatDuration(minAgeMs), from: origins.minAge },
    windows: { value: windows, from: origins.windows },
    rollout: {
      value:
        rollout === undefined
          ? { watch: false }
          : { watch: true, timeout: formatDuration(rollout.timeoutMs), onFailure: rollout.onFailure },
      from: origins.rollout,
    },
  };
}

/** The same for people, a line for each. */
export function describeSettings(spec: PolicySpec): string[] {
  const { pollIntervalMs, minAgeMs, windows, rollout, origins } = spec;
  const rows: readonly [name: string, value: string, from: Origin][] = [
    ['poll', `every ${formatDuration(pollIntervalMs)}`, origins.poll],
    ['minAge', minAgeMs === undefined ? 'none' : formatDuration(minAgeMs), origins.minAge],
    ['windows', windows.length === 0 ? 'always open' : windows.map(describeWindow).join('; '), origins.windows],
    [
      'rollout',
      rollout === undefined ? 'not watched' : `watched for ${formatDuration(rollout.timeoutMs)}, onFailure: ${rollout.onFailure}`,
      origins.rollout,
    ],
  ];
  return rows.map(
    ([name, value, from]) => `  ${name.padEnd(8)} ${value} (${from === 'policy' || from === 'built-in' ? from : `default of the ${from}`})`,
  );
}

function describeWindow({ days, from, to, timeZone }: UpdateWindow): string {
  return `${days === undefined ? '' : `${days.join(',')} `}${from}–${to} ${timeZone}`;
}
