// The site of the documentation: the same Markdown that GitHub shows, built with VitePress. A link to a page or an anchor that does not exist fails the build.
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { checkLinks } from './check-links.ts';
import { docs, editLinkOf, github, linkOnSite, rewrites, sidebarOf, slugOf } from './pages.ts';

/** The file of a page that is rendered, from `docs`; only for the search index, `path` is the file itself. */
interface Environment {
  readonly path: string;
  readonly realPath?: string;
}

const base = process.env['DOCS_BASE'] ?? '/';

export default defineConfig({
  title: 'image-watcher',
  srcDir: '..',
  srcExclude: ['site/**', 'templates/**'],
  outDir: './dist',
  cacheDir: './.vitepress/cache',
  base,
  rewrites,
  cleanUrls: true,
  lastUpdated: true,
  locales: {
    root: { label: 'English', lang: 'en', description: 'Webhook-driven image updater for Kubernetes' },
    'zh-CN': {
      label: '简体中文',
      lang: 'zh-CN',
      description: '由 Webhook 驱动的 Kubernetes 镜像更新工具',
      themeConfig: {
        sidebar: sidebarOf('README.zh-CN.md'),
        outline: { level: [2, 3], label: '本页目录' },
        editLink: { pattern: ({ frontmatter }) => String(frontmatter['edit']), text: '在 GitHub 上编辑此页' },
        docFooter: { prev: '上一页', next: '下一页' },
        lastUpdated: { text: '最后更新于' },
        langMenuLabel: '切换语言',
        sidebarMenuLabel: '菜单',
        returnToTopLabel: '返回顶部',
        darkModeSwitchLabel: '主题',
        lightModeSwitchTitle: '切换到浅色主题',
        darkModeSwitchTitle: '切换到深色主题',
        skipToContentLabel: '跳转到正文',
        notFound: { title: '页面不存在', quote: '文档列表列出了所有页面。', linkText: '全部文档' },
      },
    },
  },
  markdown: {
    anchor: { slugify: slugOf },
    codeCopyButtonTitle: 'Copy',
    config(markdown) {
      // `<version>` and `{{ }}` in a sentence are text, and not elements or expressions of Vue.
      const { html_inline: html } = markdown.renderer.rules;
      markdown.renderer.rules.html_inline = (tokens, index, ...rest) => {
        const content = tokens[index]?.content ?? '';
        return html !== undefined && /^<\/?(a|br|details|summary)\b/.test(content)
          ? html(tokens, index, ...rest)
          : markdown.utils.escapeHtml(content);
      };
      const { text, fence, code_inline: code } = markdown.renderer.rules;
      // Long names in the cells of tables break after a dot, a slash or a bracket.
      markdown.renderer.rules.code_inline = (...given) =>
        code?.(...given).replace(/>([^<]+)</, (html) => html.replaceAll(/([./\]@=])(?=\w)/g, '$1<wbr>')) ?? '';
      markdown.renderer.rules.text = (...given) => text?.(...given).replaceAll('{{', '&#123;&#123;') ?? '';
      markdown.renderer.rules.fence = (tokens, index, ...rest) => {
        const { info, content } = tokens[index] ?? { info: '', content: '' };
        if (info.trim() === 'mermaid') return `<Mermaid code="${encodeURIComponent(content)}" />\n`;
        return fence?.(tokens, index, ...rest) ?? '';
      };
      markdown.core.ruler.after('inline', 'links-on-the-site', ({ tokens, env }) => {
        const { path, realPath = path } = env as Environment;
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet('href');
          if (href) token.attrSet('href', linkOnSite(relative(docs, realPath), href));
        }
      });
    },
  },
  transformPageData({ filePath, frontmatter }) {
    return { frontmatter: { ...frontmatter, edit: editLinkOf(filePath) } };
  },
  buildEnd: ({ outDir }) => checkLinks(outDir, base),
  vite: {
    // The pages are outside of this folder, where their compiled form would not find Vue. For the browser, VitePress resolves it itself, to another build.
    plugins: [
      {
        // One index for both languages: whoever reads Chinese finds the pages that are only in English as well.
        name: 'search-in-all-languages',
        enforce: 'post',
        transform: (code, id) =>
          id === '/@localSearchIndex'
            ? code.replace('export default {', `export default {"zh-CN": () => import('@localSearchIndexroot'),`)
            : null,
      },
      {
        name: 'vue-on-the-server',
        config: (_, { isSsrBuild }) => ({
          resolve: {
            alias: ['vue/server-renderer', ...(isSsrBuild === true ? ['vue'] : [])].map((name) => ({
              find: new RegExp(`^${name}$`),
              replacement: fileURLToPath(import.meta.resolve(name)),
            })),
          },
        }),
      },
    ],
    build: {
      chunkSizeWarningLimit: 3000,
      rollupOptions: {
        onwarn(warning, warn) {
          // Chunks that need each other fail in the browser: search, diagrams and menus would be dead.
          if (warning.code === 'CIRCULAR_CHUNK') throw new Error(warning.message);
          warn(warning);
        },
      },
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          options: {
            // Chinese has no spaces between words: each pair of characters is one. This runs in the browser as well, so it is complete in itself.
            tokenize: (text) =>
              text
                .split(/[\s\p{Z}\p{P}]+|(?<=\p{Script=Han})(?!\p{Script=Han})|(?<!\p{Script=Han})(?=\p{Script=Han})/u)
                .flatMap((part) =>
                  /^\p{Script=Han}{3,}$/u.test(part) ? Array.from({ length: part.length - 1 }, (_, at) => part.slice(at, at + 2)) : [part],
                ),
          },
        },
        locales: {
          'zh-CN': {
            translations: {
              button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
              modal: {
                displayDetails: '显示详细列表',
                resetButtonTitle: '清除查询',
                backButtonTitle: '关闭搜索',
                noResultsText: '没有找到结果',
                footer: { selectText: '选择', navigateText: '切换', closeText: '关闭' },
              },
            },
          },
        },
      },
    },
    sidebar: sidebarOf('README.md'),
    socialLinks: [{ icon: 'github', link: github }],
    editLink: { pattern: ({ frontmatter }) => String(frontmatter['edit']) },
    outline: { level: [2, 3] },
    notFound: {
      title: 'There is no such page',
      quote: 'The list of pages has all that there are, and the search finds what they contain.',
      linkText: 'All pages',
    },
  },
});
