import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { baseSchema } from '../../src/bases/resource/schema.ts';
import { targetSchema } from '../../src/notify/resource/schema.ts';
import { toStructuralSchema } from '../../src/service/resources/structural-schema.ts';
import * as v1 from '../../src/service/resources/v1.ts';
import * as v1alpha1 from '../../src/conversion/v1alpha1.ts';
import { fieldTable, ruleList } from './field-table.ts';
import { fieldsOf, type Field, type JsonSchema } from './json-schema.ts';
import { yamlBlock } from './markdown.ts';
import type { Parts } from './template.ts';
import { chinese, english, type Wording } from './wording.ts';

const versions: Readonly<Record<string, readonly Field[]>> = {
  v1: fieldsIn(v1.schema),
  v1alpha1: fieldsIn(v1alpha1.schema),
  base: fieldsIn(baseSchema),
  target: fieldsIn(targetSchema),
};
const samples = join(import.meta.dirname, '../../crd/samples');

/** The parts of docs/templates/policies.md and docs/templates/policies/. */
export const policyParts = partsIn(english);

/** The same of docs/templates/policies.zh-CN.md and the Chinese pages below. */
export const chinesePolicyParts = partsIn(chinese);

function partsIn(words: Wording): Parts {
  return {
    /** `{{fields v1 spec.select}}` (or v1alpha1, base for BaseImagePolicy, target for NotificationTarget): a field and all below it, with its rules. */
    fields: (argument) => {
      const fields = select(argument, (path, root) => path === root || path.startsWith(`${root}.`) || path.startsWith(`${root}[`));
      return `${fieldTable(fields, words)}\n\n${ruleList(fields, words)}`;
    },
    /** `{{field v1 spec.minAge spec.platforms}}`: only these. */
    field: (argument) =>
      fieldTable(
        select(argument, (path, root) => path === root),
        words,
      ),
    /** `{{rules v1 spec}}`: the rules of one field itself. */
    rules: (argument) =>
      ruleList(
        select(argument, (path, root) => path === root),
        words,
      ),
    /** `{{sample semver-range.yaml}}`. */
    sample: (file) => yamlBlock(withComment(readFileSync(join(samples, file), 'utf8'), words)),
  };
}

/** A sample, whose comment is in the words of the page. */
function withComment(sample: string, { text }: Wording): string {
  if (text === english.text) return sample;
  return sample.replace(/^(?:# .*\n)+/, (comment) => `# ${text(comment.trim().replaceAll(/\n?# /g, ' ').trim())}\n`);
}

function fieldsIn(schema: Parameters<typeof toStructuralSchema>[0]): readonly Field[] {
  return [...fieldsOf(toStructuralSchema(schema) as JsonSchema, '')];
}

function select(argument: string, isMeant: (path: string, root: string) => boolean): readonly Field[] {
  const [version = '', ...roots] = argument.split(' ');
  return roots.flatMap((root) => {
    const found = (versions[version] ?? []).filter(({ path }) => isMeant(path, root));
    if (found.length === 0) throw new Error(`there is no field ${root} in ${version}`);
    return found;
  });
}
