/** The dialog on a terminal: which of the proposed policies, and into which file. */
import { writeFile } from 'node:fs/promises';
import type { Terminal } from '../../service/command-line/command.ts';
import { countOf } from '../../service/command-line/output.ts';
import { formatOverview, formatProposals, summarize } from './report.ts';
import type { Mode, Proposal, Proposals } from './propose-policies.ts';

/** Asks one question; undefined at the end of the input. */
export type Ask = NonNullable<Terminal['ask']>;

const usualFile = 'image-policies.yaml';

/** Shows the proposals, asks which of them are wanted, and writes them into a file that there is not yet. Changes nothing in the cluster. */
export async function offerProposals(proposals: Proposals, mode: Mode, terminal: Terminal & { readonly ask: Ask }): Promise<number> {
  terminal.out(`${formatOverview(proposals, terminal)}\n${summarize(proposals)}\n`);
  if (proposals.policies.length === 0) return 0;
  const wanted = await choose(proposals.policies, terminal.ask);
  if (wanted.length === 0) {
    terminal.out('Nothing was written.\n');
    return 0;
  }
  const file = await save(formatProposals({ ...proposals, policies: wanted }, mode), terminal);
  if (file === undefined) return 1;
  const next = mode === 'Automatic' ? 'what would change at once: image-watcher diff' : 'what waits: image-watcher get';
  terminal.out(`Wrote ${countOf(wanted.length, 'policy', 'policies')}. Apply them: kubectl apply -f ${file}\nThen ${next}\n`);
  return 0;
}

/** All, none, or one after the other. */
async function choose(policies: readonly Proposal[], ask: Ask): Promise<readonly Proposal[]> {
  const answer = await readLetter(ask, `Write ${policies.length === 1 ? 'it' : 'all of them'}? [y]es, [n]o, [c]hoose: `, 'ync');
  if (answer === 'y') return policies;
  if (answer !== 'c') return [];
  const wanted: Proposal[] = [];
  for (const [index, proposal] of policies.entries()) {
    const { metadata, spec } = proposal.policy;
    const what = `${metadata.namespace}/${metadata.name} for ${spec.image}, which runs ${proposal.runs.join(', ')}`;
    const one = await readLetter(ask, `${what}: ${proposal.notes[0] ?? ''} [y]es, [n]o, [a]ll from here, [q]uit: `, 'ynaq');
    if (one === 'a') return [...wanted, ...policies.slice(index)];
    if (one === undefined || one === 'q') return [];
    if (one === 'y') wanted.push(proposal);
  }
  return wanted;
}

/** The first letter of the answer, once it is one of these; undefined at the end of the input. */
async function readLetter(ask: Ask, question: string, letters: string): Promise<string | undefined> {
  for (;;) {
    const answer = await ask(question);
    if (answer === undefined) return undefined;
    const letter = answer.trim().slice(0, 1).toLowerCase();
    if (letter !== '' && letters.includes(letter)) return letter;
  }
}

/** The file that was written; undefined at the end of the input. Asks again where there is one already, or where it cannot be written. */
async function save(text: string, { ask, err }: { readonly ask: Ask; readonly err: Terminal['err'] }): Promise<string | undefined> {
  for (;;) {
    const answer = await ask(`File [${usualFile}]: `);
    if (answer === undefined) return undefined;
    const file = answer.trim() === '' ? usualFile : answer.trim();
    try {
      await writeFile(file, text, { flag: 'wx' });
      return file;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      const why = code === 'EEXIST' ? 'there is such a file already' : error instanceof Error ? error.message : String(error);
      err(`${file}: ${why}; name another one\n`);
    }
  }
}
