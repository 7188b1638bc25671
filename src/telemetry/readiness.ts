/** One thing that the process depends on. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** Whether the process is of no use without it; the others are only told. */
  readonly required: boolean;
  readonly detail?: string | undefined;
}

/** Ready when everything required is; the text names what is not, and everything when `verbose`. */
export function describeReadiness(checks: readonly Check[], verbose: boolean): { ready: boolean; text: string } {
  const ready = checks.every((check) => check.ok || !check.required);
  const shown = checks.filter((check) => verbose || !check.ok);
  const lines = shown.map(({ name, ok, required, detail }) => {
    const mark = ok ? '[+]' : required ? '[-]' : '[!]';
    return `${mark}${name} ${ok ? 'ok' : 'failed'}${detail ? `: ${detail}` : ''}`;
  });
  return { ready, text: [...lines, ready ? 'ok' : 'not ready', ''].join('\n') };
}
