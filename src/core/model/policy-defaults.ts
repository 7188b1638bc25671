/**
 * The defaults for settings that a policy may leave out. The policy's own value has precedence, then the default of its namespace, then that of the cluster,
 * then the built-in one. The author of the policy could have written each default, so a default never permits more.
 */
import { defined } from './defined.ts';
import type { PolicySpec, RolloutSettings, UpdateWindow } from './image-policy.ts';
import { matchesSelector, type LabelSelector } from './label-selector.ts';

/** The settings of policies that have defaults. */
const defaultedSettings = ['poll', 'minAge', 'windows', 'rollout'] as const;
export type DefaultedSetting = (typeof defaultedSettings)[number];

/** The origin of the value of a setting. */
export type Origin = 'policy' | 'namespace' | 'cluster' | 'built-in';
export type Origins = Readonly<Record<DefaultedSetting, Origin>>;

/** The values that `spec.rollout` sets. */
export interface RolloutDefault {
  /** The settings for rollouts; undefined if rollouts are not watched. */
  readonly settings: RolloutSettings | undefined;
  readonly maxParallel?: number;
}

/** Values for some of the settings. */
export interface SettingValues {
  readonly poll?: number;
  readonly minAge?: number;
  readonly windows?: readonly UpdateWindow[];
  readonly rollout?: RolloutDefault;
}

/** The built-in defaults. Without `rollout` in the spec, rollouts are watched and failures reported, but nothing is rolled back, as in v1alpha1. */
export const builtInSettings = {
  poll: 3_600_000,
  windows: [],
  rollout: { settings: { timeoutMs: 600_000, onFailure: 'Ignore' } },
} as const satisfies SettingValues;

/** A base is polled once a minute at most. */
const minBasePollMs = 60_000;

/** Matches namespaces by name, by label, or both. */
export interface NamespaceMatch {
  readonly names?: readonly string[];
  readonly selector?: LabelSelector;
}

/** The defaults of the namespaces that match. */
export type NamespaceDefaults = NamespaceMatch & { readonly values: SettingValues };

/** The configuration for namespaces of policies. */
export interface NamespaceRules {
  /** The labels that namespaces of policies and targets must have; undefined for all namespaces. */
  readonly selector?: LabelSelector;
  readonly cluster: SettingValues;
  /** The defaults of namespaces. For each setting, the first entry counts that matches the namespace and has the setting. */
  readonly namespaces: readonly NamespaceDefaults[];
}

/** The labels of a namespace; undefined if they are not known yet, or if the namespace does not exist. */
export type Labels = Readonly<Record<string, string>> | undefined;

/** Whether the rules depend on labels of namespaces. */
export function needsLabels({ selector, namespaces }: NamespaceRules): boolean {
  return selector !== undefined || namespaces.some((one) => one.selector !== undefined);
}

/** Whether a namespace of policies and targets is selected. A namespace whose labels are not known is not. */
export function isSelected({ selector }: NamespaceRules, labels: Labels): boolean {
  return selector === undefined || (labels !== undefined && matchesSelector(selector, labels));
}

/** Why a policy is not reconciled, or a target not changed, because of its namespace. */
export function notSelected(namespace: string): string {
  return `namespace ${namespace} is not selected by watch.namespaceSelector of the configuration: label the Namespace as it asks for`;
}

/** Why policies are not reconciled in a namespace that is not in the list of the configuration. */
export function notWatched(namespace: string): string {
  return `namespace ${namespace} is not one of watch.namespaces of the configuration: add it there`;
}

/** Why a target is not found in a namespace that is not in the list of the configuration. */
export function targetNotWatched(namespace: string): string {
  return `watch.namespaces of the configuration does not include ${namespace}: add it, or move the target`;
}

/** The entries that match a namespace, in the order of the configuration. */
export function matchingDefaults({ namespaces }: NamespaceRules, namespace: string, labels: Labels): readonly SettingValues[] {
  const matches = ({ names = [], selector }: NamespaceMatch) =>
    names.includes(namespace) || (selector !== undefined && labels !== undefined && matchesSelector(selector, labels));
  return namespaces.filter(matches).map(({ values }) => values);
}

/** Whether a setting may have a default. What replaces one given tag has none of minAge: the BaseImagePolicy whose rebased image it is has waited for that of the base. */
export function takesDefault({ origins, strategy }: PolicySpec, setting: DefaultedSetting): boolean {
  return origins[setting] !== 'policy' && (setting !== 'minAge' || strategy.replaces === undefined);
}

/** The spec with the defaults of its namespace and of the cluster for all settings that take one. Without defaults, the same object. */
export function withDefaults(spec: PolicySpec, ofNamespace: readonly SettingValues[], ofCluster: SettingValues): PolicySpec {
  const layers = layersOf(ofNamespace, ofCluster);
  const find = (setting: DefaultedSetting) =>
    takesDefault(spec, setting) ? layers.find(([, values]) => values[setting] !== undefined) : undefined;
  const [poll, minAge, windows, rollout] = [find('poll'), find('minAge'), find('windows'), find('rollout')];
  if ([poll, minAge, windows, rollout].every((found) => found === undefined)) return spec;
  const { rollout: _, maxParallel: __, ...rest } = spec;
  return {
    ...rest,
    pollIntervalMs: poll?.[1].poll ?? spec.pollIntervalMs,
    ...(minAge?.[1].minAge !== undefined && { minAgeMs: minAge[1].minAge }),
    windows: windows?.[1].windows ?? spec.windows,
    ...rolloutOf(rollout?.[1].rollout ?? { settings: spec.rollout, ...defined({ maxParallel: spec.maxParallel }) }),
    origins: {
      poll: poll?.[0] ?? spec.origins.poll,
      minAge: minAge?.[0] ?? spec.origins.minAge,
      windows: windows?.[0] ?? spec.origins.windows,
      rollout: rollout?.[0] ?? spec.origins.rollout,
    },
  };
}

type Layers = readonly (readonly [Origin, SettingValues])[];

function layersOf(ofNamespace: readonly SettingValues[], ofCluster: SettingValues): Layers {
  return [...ofNamespace.map((values) => ['namespace', values] as const), ['cluster', ofCluster]];
}

/** The settings of a base policy, which are all but `rollout`, from what it has written itself. A base is polled once a minute at most. */
export function baseSettings(
  written: SettingValues,
  ofNamespace: readonly SettingValues[],
  ofCluster: SettingValues,
): Pick<PolicySpec, 'pollIntervalMs' | 'minAgeMs' | 'windows' | 'origins'> {
  const layers: Layers = [['policy', written], ...layersOf(ofNamespace, ofCluster), ['built-in', builtInSettings]];
  const find = (setting: DefaultedSetting) => layers.find(([, values]) => values[setting] !== undefined);
  const [poll, minAge, windows] = [find('poll'), find('minAge'), find('windows')];
  return {
    pollIntervalMs: Math.max(minBasePollMs, poll?.[1].poll ?? builtInSettings.poll),
    ...defined({ minAgeMs: minAge?.[1].minAge }),
    windows: windows?.[1].windows ?? builtInSettings.windows,
    origins: {
      poll: poll?.[0] ?? 'built-in',
      minAge: minAge?.[0] ?? 'built-in',
      windows: windows?.[0] ?? 'built-in',
      rollout: 'built-in',
    },
  };
}

/** The two fields of a spec that `rollout` sets. */
export function rolloutOf({ settings, maxParallel }: RolloutDefault): Pick<PolicySpec, 'rollout' | 'maxParallel'> {
  return { ...defined({ rollout: settings, maxParallel }) };
}
