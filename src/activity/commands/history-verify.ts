/** The command `history verify`: whether the durable record is as it was written. */
import { defineCommand } from '../../service/command-line/command.ts';
import { countOf, outputOption, print } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';
import { startProgress } from '../../service/command-line/progress.ts';
import { readPieces, recordOptions } from '../record/read-pieces.ts';
import { createVerifier, type Verified } from '../record/verify.ts';
import { recordCommand } from './record-command.ts';

export const historyVerify = defineCommand({
  name: 'history verify',
  summary: 'check that the kept record was not changed',
  about: `Checks the hash chain of the record that the setting "record" keeps, and names its first break.

Exit codes: 0 in order, 1 broken or unreadable, 2 wrong usage.`,
  options: { ...recordOptions, ...outputOption },
  examples: [['history verify --config config.yaml', 'where the configuration keeps it']],
  run({ output, ...source }, _args, terminal) {
    return recordCommand(terminal, async (signal) => {
      const verifier = createVerifier();
      const progress = startProgress(terminal, 'reading the record …');
      try {
        for await (const piece of readPieces(source, signal)) {
          verifier.add(piece);
          progress.update(`reading the record: ${piece.name}`);
        }
      } finally {
        progress.stop();
      }
      const result = verifier.result();
      print(terminal, output, result, () => describe(result));
      return result.ok ? 0 : 1;
    });
  },
});

function describe({ lines, first = 1, hash, break: found }: Verified): string {
  if (lines === 0 && found === undefined) return 'the record is empty\n';
  const begins = first > 1 ? `, from line ${first} on: the earlier ones are not there` : '';
  const checked = `${countOf(lines, 'line')} in order${begins}`;
  if (found !== undefined) return printable(`broken: ${found.where} ${found.why}`) + `\n${checked}\n`;
  return `${checked}\nlast hash: ${hash}\n`;
}
