import { showHidden } from '../../core/model/hidden-text.ts';
import { cut } from '../../core/model/text.ts';
import type { KubeClient } from './client.ts';
import { objectPath } from './objects.ts';

/** The container of a pod whose log is read. `previous`: the log of the run before, which ended. */
export interface LoggedContainer {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly previous: boolean;
}

/** The most lines, the most characters of a line, and the most bytes that are requested. */
export const logLimits = { lines: 20, characters: 400, bytes: 16_384 } as const;

/** Reads the last lines of a log, without characters that are not shown as they are. Throws KubeError. */
export async function readPodLog(
  client: KubeClient,
  { namespace, pod, container, previous }: LoggedContainer,
  signal?: AbortSignal,
): Promise<string[]> {
  const text = await client.request<string>({
    method: 'GET',
    path: `${objectPath({ apiVersion: 'v1', resource: 'pods' }, namespace, pod)}/log`,
    query: { container, tailLines: logLimits.lines, limitBytes: logLimits.bytes, ...(previous && { previous }) },
    accept: 'text/plain, application/json',
    isText: true,
    signal,
  });
  return toLines(text);
}

/** The last lines of a text that a program of somebody else wrote: bounded, and without colours and hidden characters. */
export function toLines(text: string | undefined): string[] {
  const lines = (text ?? '').slice(0, logLimits.bytes).split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines.slice(-logLimits.lines).map((line) => cut(plain(line), logLimits.characters));
}

function plain(line: string): string {
  return showHidden(line.replaceAll(/\p{Cc}\[[\d;]*[A-Za-z]/gu, '').replaceAll('\t', '  '));
}
