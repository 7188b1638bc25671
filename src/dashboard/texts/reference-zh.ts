import type { Texts } from './en.ts';

export const referenceZh: Texts['ofReference'] = {
  title: 'API 参考',
  document: '供程序使用的文档（OpenAPI，JSON）',
  guide: '如何使用 API',
  route: '路由',
  summary: '作用',
  parameters: '参数',
  name: '名称',
  place: '位置',
  type: '类型',
  meaning: '含义',
  example: '示例',
  optional: '可选',
  body: '请求正文',
  answer: '响应',
  errors: '错误',
  status: '状态码',
  code: '代码',
  schemas: '类型定义',
  field: '字段',
};
