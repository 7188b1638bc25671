/** Which page is where on the site: translations are in a folder of their own, as VitePress expects of them, and README.md is the front page. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { DefaultTheme } from 'vitepress';

export const docs = join(import.meta.dirname, '../..');
const { repository } = JSON.parse(readFileSync(join(docs, '../package.json'), 'utf8')) as { repository: { url: string } };
export const github = repository.url.replace(/^git\+|\.git$/g, '');

const suffix = '.zh-CN.md';

/** `policies.zh-CN.md` → `zh-CN/policies.md`. */
function pathOnSite(page: string): string {
  const path = page.endsWith(suffix) ? `zh-CN/${page.replace(suffix, '.md')}` : page;
  return path.replace(/(^|\/)README\.md$/, '$1index.md');
}

/** The pages whose path on the site is another one. */
export const rewrites = Object.fromEntries(
  globSync('{*,*/*}.md', { cwd: docs })
    .map((page) => [page, pathOnSite(page)] as const)
    .filter(([page, path]) => page !== path),
);

/** Where a link of a page leads on the site; what is not on the site is on GitHub. */
export function linkOnSite(page: string, href: string): string {
  if (/^([a-z]+:|#|\/)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const target = posix.join('docs', posix.dirname(page), file);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (!target.startsWith('docs/') || !target.endsWith('.md')) return `${github}/blob/main/${target}${hash}`;
  return `/${pathOnSite(target.slice('docs/'.length))}${hash}`;
}

/** Where a page is edited: a generated one in its template. */
export function editLinkOf(page: string): string {
  return `${github}/edit/main/docs/${existsSync(join(docs, 'templates', page)) ? 'templates/' : ''}${page}`;
}

/** The anchors that GitHub makes of headings. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/** The sidebar is the list of all pages in README.md: a table per group, a page per row. Below a page are those of the folder with its name. */
export function sidebarOf(listing: string): DefaultTheme.SidebarItem[] {
  const groups: DefaultTheme.SidebarItem[] = [];
  for (const [, cell = ''] of readFileSync(join(docs, listing), 'utf8').matchAll(/^\|([^|]*)\|[^|]*\|$/gm)) {
    if (/^[\s-]*$/.test(cell)) continue;
    if (!cell.includes('](')) groups.push({ text: capitalized(cell.trim()), items: [], collapsed: false });
    for (const [, text = '', path = '', language = ''] of cell.matchAll(/\[([^\]]+)\]\(([\w/-]+)(\.zh-CN)?\.md\)/g)) {
      const items = pagesIn(path, language);
      const link = `/${pathOnSite(`${path}${language}.md`).replace(/\.md$/, '')}`;
      groups.at(-1)?.items?.push({ text: capitalized(text), link, ...(items.length > 0 && { items, collapsed: true }) });
    }
  }
  return groups;
}

/** The pages of a folder of `docs` in one language, by their first headings. */
function pagesIn(folder: string, language: string): DefaultTheme.SidebarItem[] {
  return globSync(`${folder}/*.md`, { cwd: docs })
    .filter((path) => path.endsWith(suffix) === (language !== ''))
    .toSorted()
    .map((path) => ({
      text: headingOf(readFileSync(join(docs, path), 'utf8')),
      link: `/${pathOnSite(path).replace(/\.md$/, '')}`,
    }));
}

function headingOf(page: string): string {
  return (/^# (.+)$/m.exec(page)?.[1] ?? '').replaceAll('`', '');
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
