/** What is said about fixes that wait, in Chinese. */
export const fixesZh: Readonly<Record<string, string>> = {
  '{0} has {1}, which {2} fixes': '{0} 有 {1}，{2} 已修复',
  '{0}, while it adds {1}': '{0}，但新增了 {1}',
  '{0} runs now': '{0} 正在运行',
  '{0}, and {1} adds {2}': '{0}，而 {1} 新增了 {2}',
  '{0} and {1} more': '{0} 等另外 {1} 个',
  '{0} waits until {1}': '{0} 等待到 {1}',
  '{0} waits behind {1}, which waits until {2}': '{0} 排在 {1} 之后，后者等待到 {2}',
  'the policy is suspended': '策略已暂停',
};
