// The site of the documentation: the same Markdown that GitHub shows, built with VitePress. A link to a page that does not exist fails the build.
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type DefaultTheme } from 'vitepress';

const docs = join(import.meta.dirname, '../..');
const { repository } = JSON.parse(readFileSync(join(docs, '../package.json'), 'utf8')) as { repository: { url: string } };
const github = repository.url.replace(/^git\+|\.git$/g, '');

/** The sidebar is the list of all pages in README.md: a table per group, a page per row. Below a page are those of the folder with its name. */
function sidebarOf(listing: string): DefaultTheme.SidebarItem[] {
  const groups: DefaultTheme.SidebarItem[] = [];
  for (const [, cell = ''] of listing.matchAll(/^\|([^|]*)\|[^|]*\|$/gm)) {
    if (/^[\s-]*$/.test(cell)) continue;
    if (!cell.includes('](')) groups.push({ text: capitalized(cell.trim()), items: [], collapsed: false });
    for (const [, text = '', path = ''] of cell.matchAll(/\[([^\]]+)\]\(([^.)]+)\.md\)/g)) {
      const items = pagesIn(path);
      groups.at(-1)?.items?.push({ text: capitalized(text), link: `/${path}`, ...(items.length > 0 && { items, collapsed: true }) });
    }
  }
  return groups;
}

/** The pages of a folder of `docs`, by their first headings. */
function pagesIn(folder: string): DefaultTheme.SidebarItem[] {
  return globSync(`${folder}/*.md`, { cwd: docs })
    .toSorted()
    .map((path) => ({ text: headingOf(readFileSync(join(docs, path), 'utf8')), link: `/${path.replace(/\.md$/, '')}` }));
}

function headingOf(page: string): string {
  return (/^# (.+)$/m.exec(page)?.[1] ?? '').replaceAll('`', '');
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export default defineConfig({
  title: 'image-watcher',
  description: 'Webhook-driven image updater for Kubernetes',
  srcDir: '..',
  srcExclude: ['site/**', 'templates/**'],
  outDir: './dist',
  cacheDir: './.vitepress/cache',
  base: process.env['DOCS_BASE'] ?? '/',
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  lastUpdated: true,
  markdown: {
    config(markdown) {
      // `<version>` and `{{ }}` in a sentence are text, and not elements or expressions of Vue.
      const { html_inline: html } = markdown.renderer.rules;
      markdown.renderer.rules.html_inline = (tokens, index, ...rest) =>
        /^<\/?(a|br|details|summary)\b/.test(tokens[index]!.content)
          ? html!(tokens, index, ...rest)
          : markdown.utils.escapeHtml(tokens[index]!.content);
      const { text } = markdown.renderer.rules;
      markdown.renderer.rules.text = (...given) => text!(...given).replaceAll('{{', '&#123;&#123;');
      const fence = markdown.renderer.rules.fence!;
      markdown.renderer.rules.fence = (tokens, index, ...rest) => {
        const { info, content } = tokens[index]!;
        return info.trim() === 'mermaid' ? `<Mermaid code="${encodeURIComponent(content)}" />\n` : fence(tokens, index, ...rest);
      };
      // What is outside of docs is not on the site, but on GitHub.
      markdown.core.ruler.after('inline', 'links-to-the-repository', ({ tokens, env }) => {
        const page = (env as { relativePath: string }).relativePath;
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet('href');
          if (!href || /^([a-z]+:|#|\/)/.test(href)) continue;
          const target = posix.join('docs', posix.dirname(page), href);
          if (!target.startsWith('docs/') || !/\.md(#|$)/.test(target)) token.attrSet('href', `${github}/blob/main/${target}`);
        }
      });
    },
  },
  // The pages are outside of this folder, where their compiled form would not find Vue.
  vite: {
    resolve: {
      alias: ['vue/server-renderer', 'vue'].map((name) => ({
        find: new RegExp(`^${name}$`),
        replacement: fileURLToPath(import.meta.resolve(name)),
      })),
    },
    build: { chunkSizeWarningLimit: 3000 },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebarOf(readFileSync(join(docs, 'README.md'), 'utf8')),
    socialLinks: [{ icon: 'github', link: github }],
    editLink: { pattern: `${github}/edit/main/docs/:path` },
    outline: { level: [2, 3] },
  },
});
