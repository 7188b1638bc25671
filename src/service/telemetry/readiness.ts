/** The state of one dependency of the process. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** Whether the process is not ready if this check fails; other checks are only reported. */
  readonly required: boolean;
  readonly detail?: string | undefined;
}

/** The process is ready if every required check is ok. The text lists the checks that are not, and all of them if `verbose`. */
export function describeReadiness(checks: readonly Check[], verbose: boolean): { ready: boolean; text: string } {
  const ready = checks.every((check) => check.ok || !check.required);
  const shown = checks.filter((check) => verbose || !check.ok);
  const lines = shown.map(({ name, ok, required, detail }) => {
    const mark = ok ? '[+]' : required ? '[-]' : '[!]';
    return `${mark}${name} ${ok ? 'ok' : 'failed'}${detail ? `: ${detail}` : ''}`;
  });
  return { ready, text: [...lines, ready ? 'ok' : 'not ready', ''].join('\n') };
}
