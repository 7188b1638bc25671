/** The dialog on a terminal: asks which of the proposed policies to write, and into which file. */
import type { Terminal } from '../../service/command-line/command.ts';
import { type Ask, offerDocuments } from '../../service/command-line/offer-documents.ts';
import { countOf } from '../../service/command-line/output.ts';
import { formatOverview, formatProposals, summarize } from './report.ts';
import type { Mode, Proposals } from './propose-policies.ts';

/** Shows the proposals, asks which of them to write, and writes them into a new file. Changes nothing in the cluster. */
export async function offerProposals(proposals: Proposals, mode: Mode, terminal: Terminal & { readonly ask: Ask }): Promise<number> {
  terminal.out(`${formatOverview(proposals, terminal)}\n${summarize(proposals)}\n`);
  if (proposals.policies.length === 0) return 0;
  return offerDocuments(
    {
      items: proposals.policies,
      describe({ policy: { metadata, spec }, runs, notes }) {
        return `${metadata.namespace}/${metadata.name} for ${spec.image}, which runs ${runs.join(', ')}: ${notes[0] ?? ''}`;
      },
      format: (wanted) => formatProposals({ ...proposals, policies: wanted }, mode),
      usualFile: 'image-policies.yaml',
      next(wanted, file) {
        const then = mode === 'Automatic' ? 'what would change at once: image-watcher diff' : 'what waits: image-watcher get';
        return `Wrote ${countOf(wanted.length, 'policy', 'policies')}. Apply them: kubectl apply -f ${file}\nThen ${then}`;
      },
    },
    terminal,
  );
}
