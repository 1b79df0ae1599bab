// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Test} from "forge-std/Test.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Token} from "./Token.sol";

contract Holder {
    Token private token;

    constructor(Token token_) {
        token = token_;
    }

    function give(address to, uint256 amount) external {
        token.transfer(to, amount);
    }
}

contract TokenTest is Test {
    Token private token;
    Holder private holder;
    address private friend = address(0xf00d);

    event Transfer(address indexed from, address indexed to, uint256 value);

    function setUp() public {
        token = new Token(1000 ether);
        holder = new Holder(token);
        token.transfer(address(holder), 10 ether);
        targetContract(address(holder));
    }

    function test_supply() public view {
        assertEq(token.totalSupply(), 1000 ether);
    }

    function test_only_the_owner_mints() public {
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, friend));
        vm.prank(friend);
        token.mint(friend, 1);
        token.mint(friend, 1);
        assertEq(token.balanceOf(friend), 1);
    }

    function test_transfer_emits() public {
        vm.expectEmit(address(token));
        emit Transfer(address(this), friend, 5);
        token.transfer(friend, 5);
    }

    function test_records_and_mocks() public {
        vm.recordLogs();
        token.transfer(friend, 6);
        assertEq(vm.getRecordedLogs().length, 1);
        vm.mockCall(address(token), abi.encodeCall(token.totalSupply, ()), abi.encode(7));
        assertEq(token.totalSupply(), 7);
        vm.clearMockedCalls();
        assertEq(token.totalSupply(), 1000 ether);
    }

    function test_signatures_and_storage() public {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(0xa11ce, keccak256("hello"));
        assertEq(ecrecover(keccak256("hello"), v, r, s), vm.addr(0xa11ce));
        vm.store(address(token), bytes32(uint256(2)), bytes32(uint256(9)));
        assertEq(vm.load(address(token), bytes32(uint256(2))), bytes32(uint256(9)));
        assertEq(token.totalSupply(), 9);
        vm.deal(friend, 3);
        assertEq(friend.balance, 3);
    }

    function testFuzz_transfers_add_up(uint256 amount) public {
        amount = bound(amount, 0, 900 ether);
        token.transfer(friend, amount);
        assertEq(token.balanceOf(friend) + token.balanceOf(address(this)), 990 ether);
    }

    function invariant_nothing_is_made_of_nothing() public view {
        assertEq(token.totalSupply(), 1000 ether);
    }
}
