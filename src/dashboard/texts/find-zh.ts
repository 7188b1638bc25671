import type { Texts } from './en.ts';

export const findZh: Texts['find'] = {
  label: '查找',
  placeholder: '查找  ( / )',
  title: '查找',
  titleOf: (text) => `查找：${text}`,
  hint: '策略、镜像（仓库、标签或摘要）、工作负载、基础镜像，以及推送（编号或摘要）：请输入名称的一部分，或完整摘要。',
  nothing: (text) => `您可见的内容中没有与“${text}”匹配的项。`,
  images: '镜像',
  versions: '版本',
  pushes: '推送',
  allOf: '显示全部',
  total: (count) => `${count} 个容器`,
  keys: '按键',
  keyFind: '查找',
  keyKeys: '显示按键',
  keyClose: '关闭',
  close: '关闭',
};
