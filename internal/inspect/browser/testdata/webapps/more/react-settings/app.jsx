import { Component } from 'react';
import { log } from '../../log.js';

export class App extends Component {
  state = { saved: false };

  handleLeave = () => log('left');

  handleSave = () => { /*HERE*/
    this.setState({ saved: true });
    log('saved');
  };

  render() {
    return (
      <div>
        <button onClick={this.handleLeave}>Leave</button>
        <button onClick={this.handleSave}>{this.state.saved ? 'Saved' : 'Save'}</button>
      </div>
    );
  }
}
