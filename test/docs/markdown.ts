/** What the tests of the documentation read from Markdown: not all of it, only as it is written here. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

export interface Page {
  /** From the root: `docs/operations.md`. */
  readonly path: string;
  readonly text: string;
}

/** A block between two lines of ```. */
export interface Fence {
  readonly language: string;
  readonly body: string;
}

/** Every page that a user or a contributor reads. */
export const pages: readonly Page[] = ['*.md', 'src/**/README.md', 'docs/**/*.md', 'charts/*/README.md']
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .map((path) => path.replaceAll('\\', '/'))
  // docs/site has packages of its own, once it was built.
  .filter((path) => !path.startsWith('docs/templates/') && !path.startsWith('docs/site/'))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

const fence = /^( *)```(\w*)[^\n]*\n([^]*?)^\1```$/gm;

/** The fenced blocks of a text, without the indentation of the list that they are in. */
export function fencesOf(text: string): Fence[] {
  return [...text.matchAll(fence)].map(([, indentation = '', language = '', body = '']) => ({
    language,
    body: body.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
  }));
}

/** `code` in the running text. */
export function codeSpansOf(text: string): string[] {
  return [...withoutFences(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** Where the links of a text lead, pictures included. */
export function linksOf(text: string): string[] {
  const plain = withoutFences(text).replaceAll(/`[^`\n]+`/g, 'code');
  return [...plain.matchAll(/\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)/g)].map(([, target = '']) => target);
}

/** What can follow `#` in a link to the page: what GitHub makes of headings, and `<a id>`. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set([...text.matchAll(/<a id="([\w-]+)">/g)].map(([, id = '']) => id));
  for (const [, heading = ''] of withoutFences(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-');
    for (let number = 0; ; number += 1) {
      const anchor = number === 0 ? slug : `${slug}-${number}`;
      if (anchors.has(anchor)) continue;
      anchors.add(anchor);
      break;
    }
  }
  return anchors;
}

function withoutFences(text: string): string {
  return text.replaceAll(fence, '');
}
