/** The settings of a policy that have defaults: their values, and the origin of each. Pure. */
import type { PolicySpec, UpdateWindow } from '../../core/model/image-policy.ts';
import type { DefaultedSetting, Origin } from '../../core/model/policy-defaults.ts';
import type { WaitException } from '../../core/model/vulnerabilities.ts';
import { formatDuration } from '../../core/model/text.ts';

/** The value of a setting, and its origin. */
interface Setting {
  readonly value: unknown;
  readonly from: Origin;
}

type Settings = Pick<PolicySpec, 'pollIntervalMs' | 'minAgeMs' | 'minAgeUnless' | 'windows' | 'windowsUnless' | 'rollout' | 'origins'>;

/** The settings that have defaults, as data for programs. */
export function settingsOf(spec: Settings): Readonly<Record<DefaultedSetting, Setting>> {
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

/** The settings that have defaults, as rows for people. */
export function settingRows(spec: Settings): readonly { readonly name: DefaultedSetting; readonly value: string; readonly from: Origin }[] {
  const { pollIntervalMs, minAgeMs, minAgeUnless, windows, windowsUnless, rollout, origins } = spec;
  const waves = rollout?.waves === undefined ? '' : `, in waves of ${rollout.waves.maxParallel}`;
  return [
    { name: 'poll', value: `every ${formatDuration(pollIntervalMs)}`, from: origins.poll },
    {
      name: 'minAge',
      value: minAgeMs === undefined ? 'none' : `${formatDuration(minAgeMs)}${describeException(minAgeUnless)}`,
      from: origins.minAge,
    },
    {
      name: 'windows',
      value: windows.length === 0 ? 'always open' : `${windows.map(describeWindow).join('; ')}${describeException(windowsUnless)}`,
      from: origins.windows,
    },
    {
      name: 'rollout',
      value:
        rollout === undefined ? 'not watched' : `watched for ${formatDuration(rollout.timeoutMs)}, onFailure: ${rollout.onFailure}${waves}`,
      from: origins.rollout,
    },
  ];
}

function describeException(exception: WaitException | undefined): string {
  return exception === undefined ? '' : `, unless it fixes ${exception.fixes}`;
}

function describeWindow({ days, from, to, timeZone }: UpdateWindow): string {
  return `${days === undefined ? '' : `${days.join(',')} `}${from}–${to} ${timeZone}`;
}
