import { type Theme, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import Mermaid from './Mermaid.vue';
import './style.css';

const chinese = '/zh-CN/';

export default {
  extends: DefaultTheme,
  enhanceApp({ app, router }) {
    app.component('Mermaid', Mermaid);
    // The language switch leads to the same page, which may not be translated: the list of pages shows what is.
    router.onAfterRouteChange = async (to) => {
      const home = withBase(chinese);
      const isMissing = router.route.data.isNotFound === true && to.startsWith(home);
      if (isMissing && to !== home) await router.go(home);
    };
  },
} satisfies Theme;
