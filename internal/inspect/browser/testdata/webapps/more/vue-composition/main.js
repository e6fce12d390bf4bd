import { createApp } from 'vue';
import { App } from './app.js';

createApp(App).mount('#root');
